package samples.support;

/** An endpoint that is checked, the results, and the time of the first and the last check, in terms of nanoTime. */
final class Watch {
    final Endpoint endpoint;
    final CheckHistory history = new CheckHistory();
    final long since;

    /** The failure of the check that a second check must confirm. */
    String reason = "";

    private long until;
    private boolean hasEnded;

    Watch(Endpoint endpoint, long since) {
        this.endpoint = endpoint;
        this.since = since;
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
