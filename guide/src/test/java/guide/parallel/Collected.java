package guide.parallel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;

/** Requests all elements of a publisher. */
final class Collected<T> implements Flow.Subscriber<T> {
    private final List<T> elements = new ArrayList<>();
    private final CompletableFuture<List<T>> end = new CompletableFuture<>();

    static <T> List<T> all(Flow.Publisher<T> publisher) throws Exception {
        Collected<T> collected = new Collected<>();
        publisher.subscribe(collected);
        return collected.end.get(10, TimeUnit.SECONDS);
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(T element) {
        elements.add(element);
    }

    @Override
    public void onError(Throwable failure) {
        end.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
        end.complete(elements);
    }
}
