package baton.interop;

import baton.distributed.DistributedLeader;
import baton.distributed.Lease;
import baton.distributed.LockHolder;
import baton.distributed.bridge.DistributedBridge;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.JobFuture;
import baton.interop.internal.futures.Stages;
import baton.sync.SemaphoreClosedException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A {@link DistributedLeader} for Java: chooses one of the members of a cluster, which runs an action until its stage
 * completes.
 *
 * <pre>{@code
 * CompletableFuture<Integer> cleaned = cluster.leader("cleaner").run(lease -> clean(lease.fencingToken()));
 * }</pre>
 */
@SuppressWarnings("exports") // of baton.distributed, which the callers require
public final class AsyncLeader {
    private final DistributedLeader leader;

    private AsyncLeader(DistributedLeader leader) {
        this.leader = leader;
    }

    /** The Java API of the given leader; the two share all state. */
    public static AsyncLeader of(DistributedLeader leader) {
        return new AsyncLeader(Objects.requireNonNull(leader, "leader"));
    }

    /** The Kotlin leader behind this. */
    public DistributedLeader kotlin() {
        return leader;
    }

    /**
     * Runs {@code action} when this member leads. The future completes as the action's stage does, and the leadership is
     * given up then. If it is lost meanwhile, the stage is cancelled if that is possible. Once the stage has completed,
     * however it does, the action runs again when the member leads again.
     *
     * <p>The action runs on a callback thread, and must not block for long.
     *
     * <p><i>Cancellation.</i> Cancelling the future cancels the stage, if possible, and gives the leadership up once it
     * has completed.
     *
     * <p><i>Failures.</i> {@link SemaphoreClosedException} if the cluster is closed or shut down.
     */
    public <T extends @Nullable Object> CompletableFuture<T> run(
            Function<? super Lease, ? extends CompletionStage<T>> action) {
        Objects.requireNonNull(action, "action");
        Function<? super Lease, ? extends CompletionStage<T>> inContext = CallerContext.function(action);
        return JobFuture.start(
                "run", leader, false, done -> DistributedBridge.run(leader, inContext, Stages::cancel, done));
    }

    /** Whether an action runs here, and the lease is held by the clocks of this JVM. */
    public boolean isLeader() {
        return leader.isLeader();
    }

    /** The member that leads, as this one has seen it last. */
    public Optional<LockHolder> leader() {
        return Optional.ofNullable(leader.getLeader());
    }

    @Override
    public String toString() {
        return "Async" + leader;
    }
}
