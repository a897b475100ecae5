package baton.interop.internal.parallel;

import baton.bridge.GateBridge;
import baton.interop.internal.futures.RevocableFuture;
import baton.interop.internal.futures.Timeout;
import baton.parallel.MemoryGate;
import baton.waiting.threads.Timeouts;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/** Looks at a gate from time to time, until it is open. */
public final class GateFuture extends RevocableFuture<@Nullable Void> {
    private final MemoryGate gate;
    private volatile @Nullable DisposableHandle nextLook;

    private GateFuture(MemoryGate gate) {
        this.gate = gate;
    }

    public static GateFuture start(MemoryGate gate) {
        GateFuture future = new GateFuture(gate);
        future.look();
        return future;
    }

    private void look() {
        if (isDone()) return;
        try {
            if (gate.isOpen()) succeed(null);
            else nextLook = Timeouts.schedule(Timeout.millis(GateBridge.intervalOf(gate)), this::look);
        } catch (Throwable e) {
            fail(e);
        }
    }

    /** A look that is scheduled meanwhile finds this done. */
    @Override
    protected void withdraw() {
        DisposableHandle timer = nextLook;
        if (timer != null) timer.dispose();
    }

    @Override
    protected String call() {
        return "awaitOpen of a MemoryGate";
    }

    @Override
    protected String description() {
        return "awaitOpen of " + gate;
    }
}
