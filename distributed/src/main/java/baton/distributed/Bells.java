package baton.distributed;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The listeners of this JVM, by topic. */
final class Bells {
    private final ConcurrentHashMap<String, List<Consumer<String>>> listeners = new ConcurrentHashMap<>();

    /** See {@link CoordinationStore#listen}. */
    AutoCloseable listen(String topic, Consumer<String> bell) {
        listeners.merge(
                topic,
                List.of(bell),
                (before, added) ->
                        Stream.concat(before.stream(), added.stream()).toList());
        return () -> listeners.computeIfPresent(topic, (name, before) -> {
            List<Consumer<String>> left =
                    before.stream().filter(other -> other != bell).toList();
            return left.isEmpty() ? null : left;
        });
    }

    /** The topics that have listeners now. */
    Set<String> topics() {
        return Set.copyOf(listeners.keySet());
    }

    /** Calls the listeners of the topics. */
    void ring(Collection<String> topics, String key) {
        for (String topic : topics)
            for (Consumer<String> bell : listeners.getOrDefault(topic, List.of())) bell.accept(key);
    }
}
