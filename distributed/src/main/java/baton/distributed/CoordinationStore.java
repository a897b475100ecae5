package baton.distributed;

import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * Small documents by key in a database or another engine. Each is written only if it still has the version that the
 * writer has read. The engine keeps and replicates them; queues, leases and tokens are the cluster's.
 *
 * <p><i>Failures.</i> A stage that fails with {@link StoreUnavailableException} means that nothing was written and never
 * will be. Any other failure, such as {@link OutcomeUnknownException}, means that the write may have happened, or may
 * still happen later: the cluster reads the document again. A store must tell the two apart, and use the latter in doubt.
 *
 * <p><i>Consistency.</i> {@link #compareAndSet} and {@link #delete} of one key are linearizable, and {@link #read} sees
 * each write that was acknowledged before it began. Keys are independent of each other.
 *
 * <p>All methods but {@link #close} return at once. All may be called from any thread. {@code toString} names the store in messages, without
 * passwords.
 */
public interface CoordinationStore extends AutoCloseable {
    /** The document of the key; empty if there is none. */
    CompletionStage<Optional<StoredDocument>> read(String key);

    /**
     * Writes the document if the key has the expected version. If it has another one, the answer carries the document
     * that is there. If it was written, the topics are rung, see {@link #listen}.
     *
     * @param expected the version that was read; 0 for a key that has no document
     * @param next of a version that is above the expected one
     * @param rung topics; their listeners hear the key
     */
    CompletionStage<CasAnswer> compareAndSet(String key, long expected, StoredDocument next, Collection<String> rung);

    /** Removes the document if it has the expected version; true if it was removed. */
    CompletionStage<Boolean> delete(String key, long expected);

    /**
     * The time in microseconds since 1970, by the clock of the store if it has one. Only the first version and the first
     * token of a new document are taken from it, so that they grow also after a loss of data. It may jump.
     */
    CompletionStage<Long> now();

    /**
     * Calls the bell with a key each time the topic is rung, until the result is closed. A ring is a hint: it may be
     * lost, come late, or come twice. The bell returns at once and does not throw.
     */
    AutoCloseable listen(String topic, Consumer<String> bell);

    /**
     * Whether a ring is usually heard by all members at once. Otherwise each of them looks at the documents of the locks
     * for which it waits, and of which it has something, every tenth of a lease.
     */
    default boolean ringsEveryBell() {
        return true;
    }

    /**
     * Whether it is certain that the store was empty when this was opened, because this has created it. Otherwise a store
     * without documents may have lost them, and a cluster grants nothing from it for one lease.
     */
    default boolean isKnownNew() {
        return false;
    }

    /** Ends the connections of this store. */
    @Override
    void close();
}
