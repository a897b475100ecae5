package baton.interop.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncSemaphore;
import baton.interop.ContextPropagation;
import baton.interop.ContextPropagator;
import baton.interop.Permit;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The bytes that a call allocates, on this thread: they do not depend on a {@link ContextPropagation} that is off. */
class ContextPropagationMemoryTest {
    /** Few, so that no call is compiled by the second compiler, which omits objects as the profile of the calls allows. */
    private static final int CALLS = 200;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final class NoContext implements ContextPropagator<String> {
        @Override
        public String capture() {
            return "";
        }

        @Override
        public Runnable restore(String captured) {
            return () -> {};
        }
    }

    private final AsyncSemaphore semaphore = AsyncSemaphore.create(1);
    private Permit held = semaphore.acquire().join();

    private void waitAndPassOn() {
        CompletableFuture<Permit> next = semaphore.acquire();
        held.close();
        held = next.join();
    }

    private void runWithPermit() {
        CompletableFuture<Integer> action = semaphore.withPermit(() -> CompletableFuture.completedFuture(1));
        held.close();
        held = semaphore.acquire().join();
        action.join();
    }

    /** Bytes per call, the least of several measurements: the first ones load classes. */
    private static long bytesOf(Runnable call) {
        long least = Long.MAX_VALUE;
        for (int measurement = 0; measurement < 3; measurement++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < CALLS; i++) call.run();
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
        }
        return least / CALLS;
    }

    @Test
    void contextPropagation_thatIsOffAgain_allocatesAsIfItHadNeverBeenOn() {
        long neverOn = bytesOf(this::waitAndPassOn);
        long neverOnWithAction = bytesOf(this::runWithPermit);
        ContextPropagation.enable(new NoContext());
        long on;
        try {
            on = bytesOf(this::waitAndPassOn);
        } finally {
            ContextPropagation.disable();
        }
        assertEquals(neverOn, bytesOf(this::waitAndPassOn));
        assertEquals(neverOnWithAction, bytesOf(this::runWithPermit));
        assertTrue(on > neverOn, () -> on + " bytes a call while it is on");
    }
}
