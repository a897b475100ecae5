package baton.interop.internal.blocking;

import baton.bridge.SyncBridge;
import baton.interop.BlockingMutex;
import baton.sync.Condition;
import baton.waiting.Waiter;
import java.util.Date;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** A condition of a {@link BlockingMutex}. */
@SuppressWarnings({"WaitNotInLoop", "JavaUtilDate"}) // the loop is the caller's; the interface has a Date
public final class MutexCondition implements java.util.concurrent.locks.Condition {
    private final BlockingMutex mutex;
    private final Condition condition;

    public MutexCondition(BlockingMutex mutex, Condition condition) {
        this.mutex = mutex;
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
        return awaitSignal(Math.max(Objects.requireNonNull(unit, "unit").toNanos(time), 0), true);
    }

    @Override
    public boolean awaitUntil(Date deadline) throws InterruptedException {
        long millis = Objects.requireNonNull(deadline, "deadline").getTime() - System.currentTimeMillis();
        return await(millis, TimeUnit.MILLISECONDS);
    }

    /** Returns, or throws, holding the mutex. */
    private boolean awaitSignal(long nanos, boolean interruptible) throws InterruptedException {
        requireHeld("await");
        if (interruptible && Thread.interrupted()) throw new InterruptedException();
        Thread self = Thread.currentThread();
        SignalThreadWaiter waiter = new SignalThreadWaiter(SyncBridge.of(condition), self, condition);
        boolean isHeld = false;
        try {
            int state = waiter.await(nanos, interruptible);
            isHeld = state == Waiter.GRANTED;
            return isHeld;
        } finally {
            if (!isHeld) mutex.lock();
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
        if (mutex.isHeldByCurrentThread()) return;
        throw new IllegalMonitorStateException(call + " by a thread that does not hold the mutex: " + condition);
    }

    @Override
    public String toString() {
        return "Blocking" + condition;
    }
}
