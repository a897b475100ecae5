package baton.interop.stress;

import baton.interop.Futures;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** Runs two actions concurrently, one a little after the other. */
public final class Race {
    private final CyclicBarrier start = new CyclicBarrier(2);
    private final Executor thread = Executors.newSingleThreadExecutor(task -> {
        Thread daemon = new Thread(task, "race");
        daemon.setDaemon(true);
        return daemon;
    });

    /** The number of the round determines which of them is delayed, and for how long. */
    public void run(int round, Runnable there, Runnable here) {
        CompletableFuture<Void> other = CompletableFuture.runAsync(() -> startWith(there, round % 40), thread);
        startWith(here, round / 40 % 40);
        Futures.await(other);
    }

    private void startWith(Runnable call, int delay) {
        try {
            start.await();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        for (int i = 0; i < delay; i++) Thread.onSpinWait();
        call.run();
    }
}
