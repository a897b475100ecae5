package baton.interop.internal.futures;

import baton.sync.Semaphore;

/** One or more permits of a semaphore, acquired together. */
public final class SemaphorePermit extends HeldPermit {
    private final Semaphore semaphore;
    private final int permits;

    public SemaphorePermit(Semaphore semaphore, int permits) {
        this.semaphore = semaphore;
        this.permits = permits;
    }

    @Override
    void releaseHeld() {
        semaphore.release(permits);
    }

    @Override
    String describe() {
        return permits + (permits == 1 ? " permit of " : " permits of ") + semaphore;
    }
}
