package baton.interop.internal.futures;

import baton.waiting.keys.KeyEntry;

/** A permit of the object of a key, whose lease ends with it. */
public final class LeasedPermit extends HeldPermit {
    private final HeldPermit held;
    private final KeyEntry<?> lease;

    public LeasedPermit(HeldPermit held, KeyEntry<?> lease) {
        this.held = held;
        this.lease = lease;
    }

    @Override
    void releaseHeld() {
        try {
            held.close();
        } finally {
            lease.end();
        }
    }

    @Override
    String describe() {
        return held.describe();
    }
}
