package baton.interop.internal.parallel;

import baton.interop.internal.futures.CallerContext;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The publisher of a map's results. Each subscription maps all elements anew.
 *
 * @param <S> the type that the kind stands for: of a result or of a list of results
 */
public final class MapPublisher<T extends @Nullable Object, S> implements Flow.Publisher<S> {
    private final StreamKind kind;
    private final Elements.Source<T> source;
    private final Function<? super T, ? extends CompletionStage<?>> mapper;

    public MapPublisher(
            StreamKind kind, Elements.Source<T> source, Function<? super T, ? extends CompletionStage<?>> mapper) {
        this.kind = kind;
        this.source = source;
        this.mapper = CallerContext.function(Objects.requireNonNull(mapper, "function"));
    }

    @Override
    public void subscribe(Flow.Subscriber<? super S> subscriber) {
        MapSubscription.subscribe(kind, source, mapper, Objects.requireNonNull(subscriber, "subscriber"));
    }

    @Override
    public String toString() {
        return "Publisher of " + kind;
    }
}
