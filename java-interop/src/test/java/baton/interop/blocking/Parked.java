package baton.interop.blocking;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A call in a thread of its own. */
final class Parked<T> extends FutureTask<T> {
    final Thread thread;

    private Parked(Callable<T> call) {
        super(call);
        thread = new Thread(this);
        thread.setDaemon(true);
    }

    /** Starts the call, and returns when it waits. */
    static <T> Parked<T> of(Callable<T> call) throws InterruptedException {
        Parked<T> parked = started(call);
        while (!parked.isParked()) {
            assertTrue(parked.thread.isAlive(), "the call did not wait");
            Thread.sleep(0, 100_000);
        }
        return parked;
    }

    static <T> Parked<T> started(Callable<T> call) {
        Parked<T> started = new Parked<>(call);
        started.thread.start();
        return started;
    }

    boolean isParked() {
        Thread.State state = thread.getState();
        boolean waits = state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
        return waits && LockSupport.getBlocker(thread) != null;
    }

    T result() throws Exception {
        return get(10, TimeUnit.SECONDS);
    }
}
