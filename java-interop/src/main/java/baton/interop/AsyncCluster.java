package baton.interop;

import baton.BatonClock;
import baton.bridge.RateLimiterBridge;
import baton.distributed.Cluster;
import baton.distributed.CoordinationStore;
import baton.distributed.bridge.DistributedBridge;
import baton.interop.internal.futures.JobFuture;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Cluster} for Java: one of the members that share locks through a store.
 *
 * <pre>{@code
 * AsyncCluster cluster = AsyncCluster.open(new JdbcStore(dataSource), Duration.ofSeconds(10));
 * AsyncDistributedSemaphore atMostFive = cluster.semaphore("uplink", 5);
 * CompletableFuture<String> body = atMostFive.withPermit(() -> fetch("/prices"));
 * }</pre>
 *
 * <p>It needs the artifact {@code io.github.baton-kt:baton-distributed}, which {@code baton-java-interop} does not bring,
 * and a program on the module path {@code requires baton.distributed}.
 *
 * <p>It has no state of its own: what is promised is described at {@link Cluster}.
 */
@SuppressWarnings("exports") // of baton.distributed, which the callers require
public final class AsyncCluster implements AutoCloseable {
    private final Cluster cluster;

    private AsyncCluster(Cluster cluster) {
        this.cluster = cluster;
    }

    /** The Java API of the given cluster; the two share all state. */
    public static AsyncCluster of(Cluster cluster) {
        return new AsyncCluster(Objects.requireNonNull(cluster, "cluster"));
    }

    /** A member with a lease of ten seconds; see {@link #open(CoordinationStore, Duration)}. */
    public static AsyncCluster open(CoordinationStore store) {
        return builder(store).open();
    }

    /**
     * A member that has not joined yet: this does no I/O. {@link #builder} has further settings.
     *
     * @param store stays open when the cluster is closed
     * @throws IllegalArgumentException if {@code lease} is below 100 ms
     */
    public static AsyncCluster open(CoordinationStore store, Duration lease) {
        return builder(store).lease(lease).open();
    }

    /** A builder of a member. */
    public static Builder builder(CoordinationStore store) {
        return new Builder(Objects.requireNonNull(store, "store"));
    }

    /** The Kotlin cluster behind this. */
    public Cluster kotlin() {
        return cluster;
    }

    /**
     * The semaphore of that name; the number of the first call counts. If members name different numbers, the last one
     * to use it wins, with a warning.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1
     */
    public AsyncDistributedSemaphore semaphore(String name, int permits) {
        return AsyncDistributedSemaphore.of(cluster.semaphore(Objects.requireNonNull(name, "name"), permits));
    }

    /** As {@link #semaphore(String, int)}. Without {@code keep} a permit goes back to the store at its release. */
    public AsyncDistributedSemaphore semaphore(String name, int permits, boolean keep) {
        return AsyncDistributedSemaphore.of(cluster.semaphore(Objects.requireNonNull(name, "name"), permits, keep));
    }

    /** The mutex of that name. */
    public AsyncDistributedMutex mutex(String name) {
        return AsyncDistributedMutex.of(cluster.mutex(Objects.requireNonNull(name, "name")));
    }

    /** As {@link #mutex(String)}. Without {@code keep} it goes back to the store when it is unlocked. */
    public AsyncDistributedMutex mutex(String name, boolean keep) {
        return AsyncDistributedMutex.of(cluster.mutex(Objects.requireNonNull(name, "name"), keep));
    }

    /** As {@link #rateLimiter(String, int, Duration, int)}, with a burst of {@code permits}. */
    public AsyncDistributedRateLimiter rateLimiter(String name, int permits, Duration per) {
        return rateLimiter(name, permits, per, permits);
    }

    /**
     * The rate limiter of that name: {@code permits} permits come in each {@code per}, and {@code burst} can be had at
     * once. The numbers of the first call count. If members name different ones, the last one to use it wins, with a
     * warning.
     *
     * @throws IllegalArgumentException if a number is below 1, or {@code per} is not above zero or above 292 years
     */
    public AsyncDistributedRateLimiter rateLimiter(String name, int permits, Duration per, int burst) {
        Objects.requireNonNull(name, "name");
        return AsyncDistributedRateLimiter.of(
                cluster.rateLimiter(name, RateLimiterBridge.rate(permits, Objects.requireNonNull(per, "per")), burst));
    }

    /** Chooses one of the members that ask for this name. */
    public AsyncLeader leader(String name) {
        return AsyncLeader.of(cluster.leader(Objects.requireNonNull(name, "name")));
    }

    /**
     * Ends the cluster: requests that wait fail, and so do all later ones. The future completes when what is held has
     * been released and given back. The store stays open.
     */
    public CompletableFuture<@Nullable Void> shutdown() {
        return JobFuture.start("shutdown", cluster, false, done -> DistributedBridge.shutdown(cluster, done));
    }

    /** Ends the cluster at once. Leases that are held are lost; other members get the permits after a lease. */
    @Override
    public void close() {
        cluster.close();
    }

    @Override
    public String toString() {
        return "Async" + cluster;
    }

    /** Opens an {@link AsyncCluster}. */
    public static final class Builder {
        private final CoordinationStore store;
        private Duration lease = Duration.ofSeconds(10);
        private @Nullable String name;
        private String namespace = "baton";
        private @Nullable BatonClock clock;

        private Builder(CoordinationStore store) {
            this.store = store;
        }

        /** How long a member is silent before others may take what it holds; at least 100 ms. */
        public Builder lease(Duration lease) {
            this.lease = Objects.requireNonNull(lease, "lease");
            return this;
        }

        /** The name of the member, for messages and in the store; by default null, which is none. */
        public Builder name(@Nullable String name) {
            this.name = name;
            return this;
        }

        /** The namespace of the application: the keys in the store begin with it. */
        public Builder namespace(String namespace) {
            this.namespace = Objects.requireNonNull(namespace, "namespace");
            return this;
        }

        /** The clock of the leases; by default that of the system. */
        public Builder clock(BatonClock clock) {
            this.clock = Objects.requireNonNull(clock, "clock");
            return this;
        }

        /**
         * A member with these settings, which has not joined yet: this does no I/O.
         *
         * @throws IllegalArgumentException if the lease is below 100 ms, or the namespace is empty
         */
        public AsyncCluster open() {
            return of(DistributedBridge.open(store, lease, name, namespace, clock));
        }
    }
}
