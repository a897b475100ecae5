package baton.test;

import baton.distributed.CasAnswer;
import baton.distributed.CoordinationStore;
import baton.distributed.StoredDocument;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingDeque;

/** The documents of a store behind several {@link FaultyStore}s, which can be lost. The store answers at once, or soon. */
final class FaultyDocuments {
    /** How many writes can be forgotten. */
    static final int KEPT = 100;

    private final CoordinationStore store;
    private final ConcurrentHashMap<String, Boolean> keys = new ConcurrentHashMap<>();
    /** The last one first. */
    private final LinkedBlockingDeque<Write> writes = new LinkedBlockingDeque<>(KEPT);

    private volatile boolean hasLost;

    private record Write(String key, Optional<StoredDocument> before) {}

    FaultyDocuments(CoordinationStore store) {
        this.store = store;
    }

    CoordinationStore store() {
        return store;
    }

    boolean isKnownNew() {
        return !hasLost && store.isKnownNew();
    }

    Collection<String> keys() {
        return List.copyOf(keys.keySet());
    }

    CompletionStage<CasAnswer> compareAndSet(String key, long expected, StoredDocument next, Collection<String> rung) {
        Optional<StoredDocument> before = current(key);
        return store.compareAndSet(key, expected, next, rung).whenComplete((answer, failure) -> {
            if (answer == null || !answer.isStored()) return;
            keys.put(key, true);
            written(new Write(key, before));
        });
    }

    CompletionStage<Boolean> delete(String key, long expected) {
        Optional<StoredDocument> before = current(key);
        return store.delete(key, expected).whenComplete((isRemoved, failure) -> {
            if (isRemoved == null || !isRemoved) return;
            keys.remove(key);
            written(new Write(key, before));
        });
    }

    private void written(Write write) {
        while (!writes.offerFirst(write)) writes.pollLast();
    }

    Optional<StoredDocument> current(String key) {
        return store.read(key).toCompletableFuture().join();
    }

    boolean lose(String key) {
        Optional<StoredDocument> document = current(key);
        if (document.isEmpty()) return false;
        keys.remove(key);
        return store.delete(key, document.get().version()).toCompletableFuture().join();
    }

    void loseAll() {
        hasLost = true;
        for (String key : keys()) lose(key);
        writes.clear();
    }

    void forgetLast(int count) {
        for (int i = 0; i < count; i++) {
            Write write = writes.pollFirst();
            if (write == null) return;
            lose(write.key);
            write.before.ifPresent(document -> {
                keys.put(write.key, true);
                store.compareAndSet(write.key, 0, document, List.of())
                        .toCompletableFuture()
                        .join();
            });
        }
    }
}
