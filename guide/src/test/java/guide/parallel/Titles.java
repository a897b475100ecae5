package guide.parallel;

import baton.interop.Tasks;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

final class Titles {
    static CompletableFuture<List<String>> titles(
            List<String> urls, Function<String, CompletableFuture<String>> fetch) {
        return Tasks.mapLimit(urls, 5, url -> fetch.apply(url).thenApply(page -> page.split("\n")[0]));
    }

    /** The calls block, on virtual threads since JDK 21. */
    static List<String> titlesBlocking(List<String> urls, Function<String, String> fetch) throws Exception {
        return Tasks.blocking().mapLimit(urls, 5, url -> fetch.apply(url).split("\n")[0]);
    }
}
