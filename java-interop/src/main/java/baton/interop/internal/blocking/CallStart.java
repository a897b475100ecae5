package baton.interop.internal.blocking;

import baton.bridge.BreakerBridge;
import baton.resilience.CircuitBreaker;

/** When the time of the callee began, for a breaker. A call that waits for permits restarts it, on any thread. */
public final class CallStart implements Runnable {
    private final CircuitBreaker breaker;
    private volatile long nanos;

    public CallStart(CircuitBreaker breaker) {
        this.breaker = breaker;
        nanos = BreakerBridge.start(breaker);
    }

    /** The reading of the breaker's clock. */
    public long nanos() {
        return nanos;
    }

    /** It begins now. */
    @Override
    public void run() {
        nanos = BreakerBridge.restart(breaker);
    }
}
