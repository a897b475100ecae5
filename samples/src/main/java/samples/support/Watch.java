package samples.support;

/** An endpoint that is checked, what its checks have found, and from when to when, in terms of nanoTime. */
final class Watch {
    final Endpoint endpoint;
    final CheckHistory history = new CheckHistory();
    final long since;

    /** Why the check has failed that the second one is to confirm. */
    String reason = "";

    private long until;
    private boolean hasEnded;

    Watch(Endpoint endpoint, long since) {
        this.endpoint = endpoint;
        this.since = since;
    }

    /** It is not checked any more. */
    void end() {
        until = System.nanoTime();
        hasEnded = true;
    }

    /** When it has ended, or else the present time. */
    long until() {
        return hasEnded ? until : System.nanoTime();
    }
}
