package guide.reactive;

import baton.interop.AsyncChannel;
import baton.interop.Tasks;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Function;

final class Orders {
    private final AsyncChannel<String> orders = AsyncChannel.create(64);

    CompletableFuture<Void> place(String order) {
        return orders.send(order); // waits while 64 orders are not requested
    }

    void close() {
        orders.close(); // completes the subscribers
    }

    /** The receipts, at most five under way at a time, in the order of the orders. */
    Flow.Publisher<String> receipts(Function<String, CompletableFuture<String>> post) {
        return Tasks.mapLimit(orders.publisher(), 5, post);
    }

    /** The same in lists of fifty. */
    Flow.Publisher<List<String>> receiptsInLists(Function<String, CompletableFuture<String>> post) {
        return Tasks.processInChunks(orders.publisher(), 50, 5, post);
    }
}
