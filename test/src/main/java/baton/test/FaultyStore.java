package baton.test;

import baton.BatonClock;
import baton.distributed.CasAnswer;
import baton.distributed.CoordinationStore;
import baton.distributed.StoreUnavailableException;
import baton.distributed.StoredDocument;
import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * A connection to a store, whose calls come late, get lost, fail or come twice, each with a chance of its own. All
 * chances are 0 at first: then each call only takes a few milliseconds. The documents can be lost, too: one, the last
 * writes, or all.
 *
 * <pre>{@code
 * FaultyStore store = new FaultyStore(new InMemoryStore(clock), clock, new SplittableRandom(42));
 * store.setAnswerLost(0.05);
 * Cluster cluster = Cluster.open(store, …);
 * }</pre>
 *
 * <p>{@code simulate} makes one for each of its nodes. Elsewhere each member has a {@link #connection} of its
 * own.
 *
 * <p><i>Order.</i> Calls overtake each other, also those of one member and key, as on several network connections.
 *
 * <p><i>Threads.</i> All members may be called from any thread if the store behind it and the random generator may be. A
 * seed repeats its faults only if all calls come from one thread, in virtual time.
 */
@SuppressWarnings("exports") // baton-distributed is optional: a module without such a test need not have it
public final class FaultyStore implements CoordinationStore {
    private static final Duration LONGEST_SLOW = Duration.ofHours(1);

    private final FaultyDocuments documents;
    private final BatonClock network;
    private final BatonClock member;
    private final RandomGenerator random;
    private volatile Consumer<String> onFault = fault -> {};
    private volatile boolean isCutOff;
    private volatile double slow;
    private volatile Duration slowest = Duration.ofSeconds(6);
    private volatile double refused;
    private volatile double requestLost;
    private volatile double answerLost;
    private volatile double repeated;
    private volatile double bellLost;

    /**
     * The first connection to {@code backing}.
     *
     * @param backing is written through this and its {@link #connection}s alone
     * @param clock measures how long calls take
     * @param random decides which calls fail
     */
    public FaultyStore(CoordinationStore backing, BatonClock clock, RandomGenerator random) {
        this(new FaultyDocuments(Objects.requireNonNull(backing, "backing")), clock, clock, random);
    }

    private FaultyStore(FaultyDocuments documents, BatonClock network, BatonClock member, RandomGenerator random) {
        this.documents = documents;
        this.network = Objects.requireNonNull(network, "clock");
        this.member = Objects.requireNonNull(member, "member");
        this.random = Objects.requireNonNull(random, "random");
    }

    /**
     * Another connection to the same documents, without faults at first.
     *
     * @param member the clock of the machine that has the connection: answers arrive by a timer of it, so not while it
     *     stands still
     * @param random decides which calls fail
     */
    public FaultyStore connection(BatonClock member, RandomGenerator random) {
        return new FaultyStore(documents, network, member, random);
    }

    // ---- faults of the connection

    /** How probable it is that a call takes long, by up to {@link #getSlowest}. Its timeout may be over then. */
    public double getSlow() {
        return slow;
    }

    /** See {@link #getSlow}. */
    public void setSlow(double chance) {
        slow = requireChance(chance);
    }

    /** How long a slow call takes at most; 6 s at first. */
    public Duration getSlowest() {
        return slowest;
    }

    /** See {@link #getSlowest}; from 1 ms to an hour. */
    public void setSlowest(Duration most) {
        if (most.compareTo(Duration.ofMillis(1)) < 0 || most.compareTo(LONGEST_SLOW) > 0) {
            throw new IllegalArgumentException("most = " + most + ", must be between 1 ms and " + LONGEST_SLOW);
        }
        slowest = most;
    }

    /** How probable it is that a call fails with {@link StoreUnavailableException}, and does nothing. */
    public double getRefused() {
        return refused;
    }

    /** See {@link #getRefused}. */
    public void setRefused(double chance) {
        refused = requireChance(chance);
    }

    /** How probable it is that a call does nothing and never ends. */
    public double getRequestLost() {
        return requestLost;
    }

    /** See {@link #getRequestLost}. */
    public void setRequestLost(double chance) {
        requestLost = requireChance(chance);
    }

    /** How probable it is that a call never ends, although it has done its work. */
    public double getAnswerLost() {
        return answerLost;
    }

    /** See {@link #getAnswerLost}. */
    public void setAnswerLost(double chance) {
        answerLost = requireChance(chance);
    }

    /** How probable it is that a call reaches the store a second time, some time after the first. */
    public double getRepeated() {
        return repeated;
    }

    /** See {@link #getRepeated}. */
    public void setRepeated(double chance) {
        repeated = requireChance(chance);
    }

    /** How probable it is that this connection does not hear a bell. */
    public double getBellLost() {
        return bellLost;
    }

    /** See {@link #getBellLost}. */
    public void setBellLost(double chance) {
        bellLost = requireChance(chance);
    }

    /** Whether the connection is cut: calls never end and do nothing, and no bell is heard. */
    public boolean isCutOff() {
        return isCutOff;
    }

    /** See {@link #isCutOff}. Calls that have reached the store by then have done their work; their answers are lost. */
    public void setCutOff(boolean isCutOff) {
        this.isCutOff = isCutOff;
    }

    /** Calls {@code listener} with each fault of this connection that happens, in a few words. It returns at once. */
    public void onFault(Consumer<String> listener) {
        onFault = Objects.requireNonNull(listener, "listener");
    }

    private static double requireChance(double chance) {
        if (!(chance >= 0 && chance <= 1)) {
            throw new IllegalArgumentException("chance = " + chance + ", must be between 0 and 1");
        }
        return chance;
    }

    // ---- faults of the store

    /** Loses all documents, as a store that comes back empty. */
    public void loseAll() {
        documents.loseAll();
    }

    /** Loses the document of the key; false if there is none. */
    public boolean lose(String key) {
        return documents.lose(key);
    }

    /**
     * Forgets the last writes and removals of all connections, as a standby that takes over without them. No lock over
     * a store that can do so is safe: two members may hold it for a third of a lease.
     *
     * @param count how many, at most 100
     */
    public void forgetLast(int count) {
        if (count < 0 || count > FaultyDocuments.KEPT) {
            throw new IllegalArgumentException("count = " + count + ", must be between 0 and " + FaultyDocuments.KEPT);
        }
        documents.forgetLast(count);
    }

    /** The document of the key as it is now, without a call that takes time. */
    public Optional<StoredDocument> current(String key) {
        return documents.current(key);
    }

    /** The keys of the documents that were written through the connections, in no order. */
    public Collection<String> keys() {
        return documents.keys();
    }

    // ---- calls

    private <T> CompletionStage<T> call(String name, String key, Supplier<CompletionStage<T>> begin) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        if (happens(refused)) {
            tell(name, key, "is refused");
            arrive(() -> answer.completeExceptionally(new StoreUnavailableException(this + " refuses", null)));
            return answer;
        }
        if (isCutOff || happens(requestLost)) {
            tell(name, key, isCutOff ? "is cut off" : "is lost");
            return answer;
        }
        boolean isSlow = happens(slow);
        if (isSlow) tell(name, key, "is slow");
        long there = isSlow ? random.nextLong(1, slowest.toNanos() + 1) : latency();
        boolean isAnswered = !happens(answerLost);
        if (!isAnswered) tell(name, key, "loses its answer");
        after(
                there,
                () -> begin.get().whenComplete((value, failure) -> {
                    if (!isAnswered || isCutOff) return;
                    after(
                            latency(),
                            () -> arrive(() -> {
                                if (failure == null) answer.complete(value);
                                else answer.completeExceptionally(failure);
                            }));
                }));
        if (happens(repeated)) {
            tell(name, key, "comes twice");
            after(there + random.nextLong(1, slowest.toNanos() + 1), begin::get);
        }
        return answer;
    }

    private boolean happens(double chance) {
        return chance > 0 && random.nextDouble() < chance;
    }

    private long latency() {
        return random.nextLong(QUICKEST_NANOS, SLOWEST_NANOS);
    }

    private void tell(String name, String key, String what) {
        onFault.accept(key.isEmpty() ? name + " " + what : name + " of " + key + " " + what);
    }

    private void after(long nanos, Runnable step) {
        network.schedule(Duration.ofNanos(nanos), step);
    }

    private void arrive(Runnable step) {
        member.schedule(Duration.ZERO, step);
    }

    @Override
    public CompletionStage<Optional<StoredDocument>> read(String key) {
        return call("read", key, () -> documents.store().read(key));
    }

    @Override
    public CompletionStage<CasAnswer> compareAndSet(
            String key, long expected, StoredDocument next, Collection<String> rung) {
        return call("compareAndSet", key, () -> documents.compareAndSet(key, expected, next, rung));
    }

    @Override
    public CompletionStage<Boolean> delete(String key, long expected) {
        return call("delete", key, () -> documents.delete(key, expected));
    }

    @Override
    public CompletionStage<Long> now() {
        return call("now", "", () -> documents.store().now());
    }

    @Override
    public AutoCloseable listen(String topic, Consumer<String> bell) {
        return documents.store().listen(topic, key -> {
            if (isCutOff || happens(bellLost)) tell("bell", key, "is lost");
            else after(latency(), () -> arrive(() -> bell.accept(key)));
        });
    }

    @Override
    public boolean ringsEveryBell() {
        return documents.store().ringsEveryBell();
    }

    @Override
    public boolean isKnownNew() {
        return documents.isKnownNew();
    }

    /** Does nothing: the store behind it belongs to the caller. */
    @Override
    public void close() {}

    @Override
    public String toString() {
        return "FaultyStore (" + documents.store() + ")";
    }

    private static final long QUICKEST_NANOS = 200_000;
    private static final long SLOWEST_NANOS = 20_000_000;
}
