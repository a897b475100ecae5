package guide.channels;

import baton.interop.AsyncChannel;
import baton.interop.BlockingChannel;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

final class Crawler {
    static void crawl(List<String> urls, UnaryOperator<String> fetch, Consumer<String> index, Executor executor)
            throws InterruptedException {
        AsyncChannel<String> pages = AsyncChannel.create(10);
        CompletableFuture<Void> indexed = pages.forEach(index, executor).whenComplete((end, failure) -> {
            if (failure != null) pages.cancel(failure); // or the sender would wait for ever
        });
        BlockingChannel<String> toIndex = pages.blocking();
        for (String url : urls) toIndex.send(fetch.apply(url));
        pages.close();
        indexed.join();
    }
}
