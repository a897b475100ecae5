package samples.java;

import baton.interop.AsyncBarrier;
import baton.sync.BarrierBrokenException;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import samples.support.Cli;
import samples.support.Page;
import samples.support.WidgetServer;

/**
 * Three widgets are loaded at the same time and meet at a barrier; the last one renders the page. A widget that cannot
 * be loaded breaks the barrier, and the others get its failure instead of waiting for ever. {@code samples.Dashboard}
 * is the same in Kotlin.
 */
public final class Dashboard {
    private static final List<String> WIDGETS = List.of("news", "stocks", "weather");

    private Dashboard() {}

    private static CompletableFuture<Void> show(String widget, WidgetServer server, Page page, AsyncBarrier barrier) {
        return server.load(widget)
                .whenComplete((content, failure) -> {
                    if (failure == null) page.put(widget, content);
                    else barrier.abort(unwrap(failure));
                })
                .thenCompose(content -> barrier.arrive())
                .handle((index, failure) -> {
                    page.ended(widget, how(failure));
                    return null;
                });
    }

    private static String how(Throwable failure) {
        if (failure == null) return "shown";
        Throwable why = unwrap(failure);
        return why instanceof BarrierBrokenException
                ? "not shown: " + why.getCause().getMessage()
                : "not loaded: " + why.getMessage();
    }

    private static Throwable unwrap(Throwable failure) {
        return failure instanceof CompletionException ? failure.getCause() : failure;
    }

    private static boolean open(PrintStream out, String title, String outOfOrder) {
        Page page = new Page();
        AsyncBarrier barrier = AsyncBarrier.create(WIDGETS.size(), () -> {
            page.render();
            return CompletableFuture.completedFuture(null);
        });
        try (WidgetServer server = new WidgetServer(outOfOrder)) {
            CompletableFuture.allOf(WIDGETS.stream()
                            .map(widget -> show(widget, server, page, barrier))
                            .toArray(CompletableFuture[]::new))
                    .join();
        }
        return page.report(out, title);
    }

    /** Returns the exit code: 0 if the page was rendered once with all widgets, and never without one of them. */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        return Cli.runWithoutOptions(args, err, () -> {
            boolean whole = open(out, "All widgets can be loaded", "");
            boolean half = open(out, "The news cannot be loaded", "news");
            return whole && !half;
        });
    }

    public static void main(String[] args) {
        Cli.exit(run(args, System.out, System.err));
    }
}
