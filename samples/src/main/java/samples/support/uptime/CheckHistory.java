package samples.support.uptime;

/**
 * The state of an endpoint by the results of its checks. It changes to down, or back to up, only after a second check
 * has confirmed the first. Not thread-safe: its owner guards it.
 */
final class CheckHistory {
    enum State {
        /** Not checked yet, or the first check has failed. If it proves to be down, that is a change. */
        UNKNOWN,
        UP,
        DOWN
    }

    /** The effect of a check. */
    enum Verdict {
        UNCHANGED,
        /** Another state than before, to be confirmed by a second check at once. */
        UNCONFIRMED,
        CHANGED
    }

    private State state = State.UNKNOWN;
    private boolean isUnconfirmed;
    private int changes;

    /** Adds the result of a check. */
    Verdict add(boolean isUp) {
        if (isUp == (state != State.DOWN)) {
            if (isUp) state = State.UP;
            isUnconfirmed = false;
            return Verdict.UNCHANGED;
        }
        isUnconfirmed = !isUnconfirmed;
        if (isUnconfirmed) return Verdict.UNCONFIRMED;
        state = isUp ? State.UP : State.DOWN;
        changes++;
        return Verdict.CHANGED;
    }

    State state() {
        return state;
    }

    /** The number of confirmed changes. The first one is to down, and from then on they alternate. */
    int changes() {
        return changes;
    }
}
