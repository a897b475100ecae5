package samples.support;

import java.io.PrintStream;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Records the pages of a pipeline: in memory, aggregated, dropped. All methods may be called from any thread. */
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

    /** The number of pages that arrived twice, or left without having arrived. */
    private int wrong;

    /**
     * @param bound the maximum number of pages in memory.
     * @param fetchable the number of pages that the server answers.
     */
    public Ledger(int bound, int fetchable) {
        this.bound = bound;
        this.fetchable = fetchable;
    }

    /** A page was requested. */
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
     * Completes when no further page can arrive before the aggregator has finished its current page. An aggregator that
     * waits for this each time is as slow as possible: then the maximum number of pages is in memory.
     */
    public synchronized CompletableFuture<Void> stuck() {
        if (isStuck()) return CompletableFuture.completedFuture(null);
        stuck = new CompletableFuture<>();
        return stuck;
    }

    private boolean isStuck() {
        return inMemory.size() >= bound || fetched >= fetchable;
    }

    /** A page has been aggregated. Returns the number of aggregated pages. */
    public synchronized int aggregated(String page) {
        removeFromMemory(page);
        return ++aggregated;
    }

    /** A channel has dropped a page. */
    public synchronized void dropped(String page) {
        removeFromMemory(page);
        dropped++;
    }

    /** A fetcher could not send a page. */
    public synchronized void refused(String page) {
        removeFromMemory(page);
        refused++;
    }

    private void removeFromMemory(String page) {
        if (!inMemory.remove(page)) wrong++;
    }

    /**
     * Prints the numbers. Call it when no stage runs any more. Returns whether {@code wanted} pages were aggregated,
     * the bound held, no page was lost, and no request or waiter is left.
     *
     * @param waiters the number of waiters in the channels.
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
