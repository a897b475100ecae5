package baton.distributed;

import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store in the memory of this JVM, for tests and for programs that may grow: the clusters that are opened with the same
 * store share its locks. It never fails, and answers on the calling thread.
 */
public final class InMemoryStore implements CoordinationStore {
    private final ConcurrentHashMap<String, StoredDocument> documents = new ConcurrentHashMap<>();
    private final Bells bells = new Bells();
    private final InstantSource clock;

    /** An empty store with the clock of the system. */
    public InMemoryStore() {
        this(InstantSource.system());
    }

    /** An empty store that takes its time from {@code clock}. */
    public InMemoryStore(InstantSource clock) {
        this.clock = Objects.requireNonNull(clock, "clock");
    }

    @Override
    public CompletionStage<Optional<StoredDocument>> read(String key) {
        return CompletableFuture.completedFuture(Optional.ofNullable(documents.get(key)));
    }

    @Override
    public CompletionStage<CasAnswer> compareAndSet(
            String key, long expected, StoredDocument next, Collection<String> rung) {
        if (next.version() <= expected) {
            throw new IllegalArgumentException("next.version = " + next.version() + ", must be above " + expected);
        }
        AtomicBoolean isStored = new AtomicBoolean();
        StoredDocument now = documents.compute(key, (k, before) -> {
            isStored.set(versionOf(before) == expected);
            return isStored.get() ? next : before;
        });
        if (!isStored.get()) return CompletableFuture.completedFuture(CasAnswer.conflict(Optional.ofNullable(now)));
        bells.ring(rung, key);
        return CompletableFuture.completedFuture(CasAnswer.stored());
    }

    private static long versionOf(@Nullable StoredDocument document) {
        return document == null ? 0 : document.version();
    }

    @Override
    public CompletionStage<Boolean> delete(String key, long expected) {
        StoredDocument before = documents.get(key);
        boolean isRemoved = before != null && before.version() == expected && documents.remove(key, before);
        return CompletableFuture.completedFuture(isRemoved);
    }

    @Override
    public CompletionStage<Long> now() {
        return CompletableFuture.completedFuture(ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant()));
    }

    @Override
    public AutoCloseable listen(String topic, Consumer<String> bell) {
        return bells.listen(topic, bell);
    }

    @Override
    public boolean isKnownNew() {
        return true;
    }

    /** Does nothing: clusters of this JVM may still use the store. */
    @Override
    public void close() {}

    @Override
    public String toString() {
        return "InMemoryStore (documents = " + documents.size() + ")";
    }
}
