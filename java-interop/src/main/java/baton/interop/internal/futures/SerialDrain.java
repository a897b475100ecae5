package baton.interop.internal.futures;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lets one thread at a time work off what others signal.
 *
 * <pre>
 *          signal()                   signal()
 *   IDLE ───────────▶ AGAIN ◀─────────────────── WORKING
 *    ▲                  └───────── begin() ────────▲ │
 *    └───────────────────── end() ───────────────────┘
 * </pre>
 *
 * The thread that finds IDLE works. A signal that comes meanwhile, in particular on the same stack, makes it work once
 * more. So the work needs no lock, each pass sees the effects of the one before it, and any number of signals needs one
 * frame.
 */
public final class SerialDrain {
    private static final int IDLE = 0;
    private static final int WORKING = 1;
    private static final int AGAIN = 2;

    private final AtomicInteger state;

    /** @param isWorking whether the thread that makes it works first, or passes the work to another */
    public SerialDrain(boolean isWorking) {
        state = new AtomicInteger(isWorking ? WORKING : IDLE);
    }

    /** Whether the caller has to work: {@code do { drain.begin(); … } while (!drain.end());}. */
    public boolean signal() {
        return state.getAndSet(AGAIN) == IDLE;
    }

    /** Begins a pass, which sees what came before the signals so far. */
    public void begin() {
        // An exchange and no store: it reads from the last signal, and so the pass sees what was written before that.
        int unused = state.getAndSet(WORKING);
    }

    /** Ends the work. False if a signal came during the pass: then another one has to follow. */
    public boolean end() {
        return state.compareAndSet(WORKING, IDLE);
    }

    /** Ends the work in the midst of a pass, whatever came meanwhile. The next signal begins anew. */
    public void abandon() {
        state.set(IDLE);
    }
}
