package baton.interop.internal.blocking;

import baton.bridge.SyncBridge;
import baton.sync.Condition;
import baton.sync.Mutex;
import baton.waiting.Parking;
import baton.waiting.ThreadWaiter;
import baton.waiting.Waiter;
import java.util.Date;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** A condition of a mutex, for threads that hold it. */
@SuppressWarnings({"WaitNotInLoop", "JavaUtilDate"}) // the loop is the caller's; the interface has a Date
public final class MutexCondition implements java.util.concurrent.locks.Condition {
    private final Mutex mutex;
    private final Condition condition;

    public MutexCondition(Condition condition) {
        this.mutex = condition.getMutex();
        this.condition = condition;
    }

    @Override
    public void await() throws InterruptedException {
        var unused = awaitSignal(Parking.FOREVER, true);
    }

    @Override
    public void awaitUninterruptibly() {
        try {
            var unused = awaitSignal(Parking.FOREVER, false);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public long awaitNanos(long nanos) throws InterruptedException {
        long limit = Math.max(nanos, 0);
        long start = System.nanoTime();
        var unused = awaitSignal(limit, true);
        return limit - (System.nanoTime() - start);
    }

    @Override
    public boolean await(long time, TimeUnit unit) throws InterruptedException {
        return awaitSignal(Objects.requireNonNull(unit, "unit").toNanos(time), true);
    }

    @Override
    public boolean awaitUntil(Date deadline) throws InterruptedException {
        long end = Objects.requireNonNull(deadline, "deadline").getTime();
        long now = System.currentTimeMillis();
        return await(end <= now ? 0 : end - now, TimeUnit.MILLISECONDS);
    }

    /** Returns, or throws, holding the mutex. */
    private boolean awaitSignal(long nanos, boolean interruptible) throws InterruptedException {
        requireHeld("await");
        if (interruptible) ThreadWaiter.throwIfInterrupted();
        Thread self = Thread.currentThread();
        SignalThreadWaiter waiter = new SignalThreadWaiter(SyncBridge.of(condition), self, condition);
        // Made before the mutex is released: afterwards there might be no memory for it.
        ThreadWaiter entrant = new ThreadWaiter(SyncBridge.of(mutex), 1, self, mutex);
        boolean isHeld = false;
        try {
            isHeld = waiter.await(nanos, interruptible) == Waiter.GRANTED;
            return isHeld;
        } finally {
            if (!isHeld) entrant.awaitUninterruptibly();
        }
    }

    @Override
    public void signal() {
        requireHeld("signal");
        condition.signal();
    }

    @Override
    public void signalAll() {
        requireHeld("signalAll");
        condition.signalAll();
    }

    private void requireHeld(String call) {
        if (mutex.getHolder() == Thread.currentThread()) return;
        throw new IllegalMonitorStateException(call + " by a thread that does not hold the mutex: " + condition);
    }

    @Override
    public String toString() {
        return "Blocking" + condition;
    }
}
