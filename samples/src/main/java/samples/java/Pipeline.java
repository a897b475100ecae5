package samples.java;

import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.interop.AsyncChannel;
import baton.interop.CancellableFuture;
import java.io.PrintStream;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import samples.support.Cli;
import samples.support.Ledger;
import samples.support.PageServer;

/**
 * One stage discovers pages, three fetch them, and a slow one aggregates them. Two bounded channels between them
 * provide backpressure: few pages are in memory at any time. A pipeline stopped in the middle leaves no page, request
 * or waiter. {@code samples.Pipeline} is the same in Kotlin.
 */
public final class Pipeline {
    private static final int FETCHERS = 3;
    private static final int LINKS = 10;
    private static final int PAGES = 4;

    /** A full channel, one page in each fetcher, one in the aggregator. */
    private static final int BOUND = PAGES + FETCHERS + 1;

    private static final int ENOUGH = 30;

    private final PageServer server;
    private final Ledger ledger;
    private final AsyncChannel<String> links = AsyncChannel.create(LINKS);
    private final AsyncChannel<String> pages;

    /** The requests without a response. */
    private final Set<CancellableFuture<?>> requests = ConcurrentHashMap.newKeySet();

    private Pipeline(PageServer server, Ledger ledger) {
        this.server = server;
        this.ledger = ledger;
        pages = AsyncChannel.create(PAGES, ChannelOrder.FIFO, OnFull.SUSPEND, ledger::dropped, "pages");
    }

    private CompletableFuture<Void> discover(String path) {
        return started(server.portion(path)).thenCompose(portion -> {
            CompletableFuture<Void> sent = CompletableFuture.completedFuture(null);
            for (String link : portion.links()) sent = sent.thenCompose(before -> links.send(link));
            return portion.next() == null
                    ? sent.thenRun(links::close)
                    : sent.thenCompose(all -> discover(portion.next()));
        });
    }

    private CompletableFuture<Void> fetch() {
        return links.forEachAsync(link -> {
            ledger.asked();
            return started(server.page(link)).thenCompose(this::send);
        });
    }

    private CompletableFuture<Void> send(String page) {
        ledger.fetched(page);
        return pages.send(page).whenComplete((sent, refusal) -> {
            if (refusal != null) ledger.refused(page);
        });
    }

    private <T> CancellableFuture<T> started(CancellableFuture<T> request) {
        requests.add(request);
        request.whenComplete((answer, failure) -> requests.remove(request));
        return request;
    }

    /** Aggregates until {@code enough} pages are done. */
    private CancellableFuture<Void> aggregate(int enough) {
        return CancellableFuture.of(pages.receive())
                .thenCompose(page -> ledger.stuck()
                        // The earlier stages could continue meanwhile if the channel were not full.
                        .thenCompose(stuck -> started(server.count(page)))
                        .thenCompose(counted -> {
                            boolean last = ledger.aggregated(page) == enough;
                            return last ? CompletableFuture.completedFuture(null) : aggregate(enough);
                        }));
    }

    private void run(int enough) {
        CompletableFuture<Void> aggregated = aggregate(enough);
        List<CompletableFuture<Void>> fetchers =
                Stream.generate(this::fetch).limit(FETCHERS).toList();
        CompletableFuture<Void> fetched = all(fetchers).thenRun(pages::close);
        CompletableFuture<Void> discovered = discover(PageServer.INDEX);
        fetchers.forEach(fetcher -> endIfFailed(fetcher, aggregated));
        endIfFailed(discovered, aggregated);
        try {
            aggregated.join();
            server.holding().join();
        } finally {
            stop();
            all(List.of(fetched, discovered)).exceptionally(stopped -> null).join();
        }
    }

    /**
     * Cancels the channels and the requests: waiters of a channel fail, and its buffered pages go to the ledger. The
     * dependent stages are not cancelled: they end by themselves, each after it has updated the ledger.
     */
    private void stop() {
        links.cancel();
        pages.cancel();
        requests.forEach(request -> request.cancel(true));
    }

    private static CompletableFuture<Void> all(List<CompletableFuture<Void>> work) {
        return CompletableFuture.allOf(work.toArray(CompletableFuture[]::new));
    }

    private static void endIfFailed(CompletableFuture<Void> work, CompletableFuture<Void> aggregated) {
        work.whenComplete((done, failure) -> {
            if (failure != null) aggregated.completeExceptionally(failure);
        });
    }

    private static boolean run(PrintStream out, String title, int fetchable, int enough) {
        try (PageServer server = new PageServer(fetchable)) {
            Ledger ledger = new Ledger(BOUND, fetchable);
            Pipeline pipeline = new Pipeline(server, ledger);
            pipeline.run(enough);
            int waiters = pipeline.links.waiting() + pipeline.pages.waiting();
            return ledger.report(out, title, enough, waiters, server);
        }
    }

    /** Returns the exit code: 0 if no run exceeded the bound, lost a page, or left a request or a waiter. */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        return Cli.runWithoutOptions(args, err, () -> {
            boolean whole = run(out, "All pages", PageServer.PAGES, PageServer.PAGES);
            // When the aggregator has enough pages, one fetcher waits for its response, and the others wait to send.
            boolean half = run(out, "Stopped after " + ENOUGH + " pages", ENOUGH + BOUND - 2, ENOUGH);
            return whole && half;
        });
    }

    public static void main(String[] args) {
        Cli.exit(run(args, System.out, System.err));
    }
}
