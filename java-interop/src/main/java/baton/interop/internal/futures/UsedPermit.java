package baton.interop.internal.futures;

import baton.resilience.RateLimiter;

/** A permit of a rate limiter, which counts as used: closing it gives nothing back. */
public final class UsedPermit extends HeldPermit {
    private final RateLimiter limiter;

    public UsedPermit(RateLimiter limiter) {
        this.limiter = limiter;
    }

    @Override
    void releaseHeld() {}

    @Override
    String describe() {
        return "1 permit of " + limiter;
    }
}
