package baton.interop.internal.parallel;

import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The elements that one subscription pulls. The puller calls all methods but {@link #begin}. */
public abstract class Elements {
    /** Elements of any source, opened for one subscription and its pump. */
    public interface Source<T extends @Nullable Object> extends Function<StreamPump<T>, Elements> {}

    /** Called when the subscriber has its subscription, perhaps while another thread pulls. */
    void begin() {}

    /** Whether elements can be pulled yet. */
    boolean isReady() {
        return true;
    }

    /** Gives the pump elements, now or later, and returns how many: at least one, at most {@code places}. */
    abstract long pull(long places);

    /** Nothing will be pulled any more. */
    abstract void close();

    public static <T extends @Nullable Object> Source<T> of(Iterable<? extends T> items) {
        Objects.requireNonNull(items, "items");
        return pump -> new Iterated<T>(pump, items::iterator, () -> {});
    }

    /** A stream can be read once, by its first subscription, which closes it. */
    public static <T extends @Nullable Object> Source<T> of(Stream<? extends T> items) {
        Objects.requireNonNull(items, "items");
        AtomicBoolean taken = new AtomicBoolean();
        return pump -> {
            if (!taken.getAndSet(true)) return new Iterated<T>(pump, items::iterator, items::close);
            return new Iterated<T>(pump, Elements::refuse, () -> {});
        };
    }

    private static <T extends @Nullable Object> Iterator<T> refuse() {
        throw new IllegalStateException("the stream has a subscription already, and can be read once");
    }

    public static <T extends @Nullable Object> Source<T> of(Flow.Publisher<? extends T> items) {
        Objects.requireNonNull(items, "items");
        return pump -> new PublishedElements<>(pump, items);
    }

    private static final class Iterated<T extends @Nullable Object> extends Elements {
        private final StreamPump<T> pump;
        private final Supplier<? extends Iterator<? extends T>> items;
        private final Runnable close;
        private @Nullable Iterator<? extends T> iterator;

        Iterated(StreamPump<T> pump, Supplier<? extends Iterator<? extends T>> items, Runnable close) {
            this.pump = pump;
            this.items = items;
            this.close = close;
        }

        @Override
        long pull(long places) {
            Iterator<? extends T> all = iterator;
            if (all == null) {
                all = items.get();
                iterator = all;
            }
            if (all.hasNext()) {
                boolean unused = pump.start(all.next());
            } else {
                pump.map.exhaust();
            }
            return 1;
        }

        @Override
        void close() {
            close.run();
        }
    }
}
