package samples.support;

import java.io.PrintStream;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Where the pages of a pipeline are: in memory, aggregated, thrown away. All methods may be called from any thread. */
public final class Ledger {
    private final int bound;
    private final int fetchable;
    private final Set<String> inMemory = new HashSet<>();
    private CompletableFuture<Void> stuck = new CompletableFuture<>();
    private int most;
    private int asked;
    private int fetched;
    private int aggregated;
    private int dropped;
    private int refused;

    /** Pages that came twice, or went without having come. */
    private int wrong;

    /**
     * @param bound how many pages may be in memory at once.
     * @param fetchable how many can be fetched at all.
     */
    public Ledger(int bound, int fetchable) {
        this.bound = bound;
        this.fetchable = fetchable;
    }

    /** A page was asked for. */
    public synchronized void asked() {
        asked++;
    }

    /** A page has arrived. */
    public void fetched(String page) {
        CompletableFuture<Void> now;
        synchronized (this) {
            fetched++;
            if (!inMemory.add(page)) wrong++;
            most = Math.max(most, inMemory.size());
            if (!isStuck()) return;
            now = stuck;
        }
        now.complete(null);
    }

    /**
     * Completes when nothing more should arrive before the page that the aggregator has in hand is aggregated. One that
     * waits for it each time is as slow as can be: in memory there are as many pages as there may be.
     */
    public synchronized CompletableFuture<Void> stuck() {
        if (isStuck()) return CompletableFuture.completedFuture(null);
        stuck = new CompletableFuture<>();
        return stuck;
    }

    private boolean isStuck() {
        return inMemory.size() >= bound || fetched >= fetchable;
    }

    /** A page has been worked off; the answer is how many have. */
    public synchronized int aggregated(String page) {
        gone(page);
        return ++aggregated;
    }

    /** A channel has thrown a page away. */
    public synchronized void dropped(String page) {
        gone(page);
        dropped++;
    }

    /** A fetcher could not send a page. */
    public synchronized void refused(String page) {
        gone(page);
        refused++;
    }

    private void gone(String page) {
        if (!inMemory.remove(page)) wrong++;
    }

    /**
     * Prints what has happened. When nothing runs any more. Whether {@code wanted} pages were aggregated, never too
     * many were in memory, none was lost, and nothing is left over.
     *
     * @param waiters how many wait in the channels.
     */
    public synchronized boolean report(PrintStream out, String title, int wanted, int waiters, PageServer server) {
        int requests = server.requests();
        int exchanges = server.exchanges();
        int words = server.words();
        boolean all = aggregated == PageServer.PAGES;
        out.println(title);
        out.println("  asked for: " + asked + " pages, and got " + fetched);
        out.println("  aggregated: " + aggregated + " pages" + (all ? " with " + words + " words" : ""));
        out.println("  thrown away: " + dropped + " by the channel, " + refused + " by fetchers that could not send");
        out.println("  lost or doubled: " + (inMemory.size() + wrong));
        out.println("  most pages in memory: " + most + ", with a bound of " + bound);
        out.println("  left over: " + requests + " requests, " + waiters + " waiters, " + exchanges + " exchanges");
        out.println();
        return most <= bound
                && inMemory.isEmpty()
                && wrong == 0
                && fetched == aggregated + dropped + refused
                && aggregated == wanted
                && (!all || words == PageServer.WORDS)
                && requests + waiters + exchanges == 0;
    }
}
