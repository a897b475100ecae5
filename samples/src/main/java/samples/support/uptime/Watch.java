package samples.support.uptime;

/** An endpoint that is checked, the results, and the time of the first and the last check, in terms of nanoTime. */
final class Watch {
    final Endpoint endpoint;
    final CheckHistory history = new CheckHistory();
    final long since;

    /** When the state changed, in milliseconds since 1970. */
    long changed = System.currentTimeMillis();

    /** The time of the latest response; negative before the first one. */
    long responseMillis = -1;

    /** The number of checks that have ended. */
    int checks;

    /** Whether it is checked only on demand. */
    boolean isPaused;

    /** The failure of the check that a second check must confirm. */
    String reason = "";

    private long until;
    private boolean hasEnded;

    Watch(Endpoint endpoint, long since) {
        this.endpoint = endpoint;
        this.since = since;
    }

    /** Adds the result of a check. */
    CheckHistory.Verdict add(boolean isUp) {
        checks++;
        CheckHistory.State before = history.state();
        CheckHistory.Verdict verdict = history.add(isUp);
        if (history.state() != before) changed = System.currentTimeMillis();
        return verdict;
    }

    /** Ends the checks. */
    void end() {
        until = System.nanoTime();
        hasEnded = true;
    }

    /** The end of the checks, or the present time if they go on. */
    long until() {
        return hasEnded ? until : System.nanoTime();
    }
}
