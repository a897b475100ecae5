package baton.interop.internal.futures;

import baton.sync.Semaphore;

/** Permits of a semaphore. */
public final class SemaphorePermit extends HeldPermit {
    private final Semaphore semaphore;
    private final int permits;

    public SemaphorePermit(Semaphore semaphore, int permits) {
        this.semaphore = semaphore;
        this.permits = permits;
    }

    @Override
    void giveBack() {
        semaphore.release(permits);
    }

    @Override
    String describe() {
        return permits + (permits == 1 ? " permit of " : " permits of ") + semaphore;
    }
}
