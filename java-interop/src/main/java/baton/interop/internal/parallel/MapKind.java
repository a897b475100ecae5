package baton.interop.internal.parallel;

/**
 * A call that maps elements in parallel.
 *
 * @param name the method, in messages
 * @param limit how many stages run at the same time
 * @param listed whether the result is the list of results, not null
 * @param settling whether each result is an {@link baton.parallel.Outcome}
 * @param maxFailures the number of failures that stops a settling map
 * @param countsRest whether a settling map that was stopped counts the rest of its source
 */
public record MapKind(String name, int limit, boolean listed, boolean settling, int maxFailures, boolean countsRest) {
    public MapKind {
        if (limit < 1) throw new IllegalArgumentException("limit = " + limit + ", must be at least 1");
        if (maxFailures < 1)
            throw new IllegalArgumentException("maxFailures = " + maxFailures + ", must be at least 1");
    }

    public static MapKind mapLimit(int limit) {
        return new MapKind("mapLimit", limit, true, false, Integer.MAX_VALUE, false);
    }

    public static MapKind forEachLimit(int limit) {
        return new MapKind("forEachLimit", limit, false, false, Integer.MAX_VALUE, false);
    }

    public static MapKind mapSettled(int limit, int maxFailures, boolean countsRest) {
        return new MapKind("mapSettled", limit, true, true, maxFailures, countsRest);
    }

    @Override
    public String toString() {
        return name + " (limit = " + limit + ")";
    }
}
