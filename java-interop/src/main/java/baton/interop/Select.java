package baton.interop;

import baton.Priority;
import baton.channels.ChannelClosedException;
import baton.channels.ChannelOrder;
import baton.interop.internal.futures.LockMode;
import baton.interop.internal.futures.Timeout;
import baton.interop.internal.select.Clause;
import baton.interop.internal.select.Clauses;
import baton.interop.internal.select.SelectFuture;
import baton.sync.BarrierCancellation;
import baton.sync.WaitOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits for several things at once and gets exactly one of them:
 *
 * <pre>{@code
 * CompletableFuture<String> winner = Select.<String>first()
 *         .onReceive(channel, element -> element)
 *         .onAcquire(semaphore, permit -> { try (permit) { return "permit"; } })
 *         .onTimeout(Duration.ofMillis(50), () -> "late")
 *         .start();
 * }</pre>
 *
 * <p><i>Waiting.</i> Every clause stands in the line of its primitive, as a future of the same request does. The first
 * that is granted what it waits for wins: the others are withdrawn, then its function is run, and what that returns is
 * what the future completes with.
 *
 * <p><i>Order.</i> Clauses are tried in the order in which they were added, so the first of those that need not wait
 * wins; {@link #unbiased()} has each start shuffle them. Timeouts come last in any case.
 *
 * <p><i>Failures.</i> A clause that fails, because its channel is closed and drained, say, wins with that: the future
 * fails. So it does with what the function throws. A future that failed, or was ended by anybody else, holds nothing: a
 * permit that the function was given is closed then. Otherwise it is for the function, or whoever gets its result, to
 * close it.
 *
 * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, and {@code orTimeout} withdraw all
 * clauses; if one has won, but its function has not begun, what it was granted goes back. A clause that loses leaves
 * nothing behind: an element stays in its channel, a place or a permit goes to the next. Two things cannot be undone: a
 * party of a barrier that was let in has arrived, and a clause that loses does to a barrier what a cancelled party
 * does. The stage of {@link #onFuture} goes on.
 *
 * <p><i>Memory.</i> As that of the winner's primitive: what was sent, given back or completed there happens before the
 * function.
 *
 * <p><i>CallbackExecutor.</i> The winner's function is run by whoever grants or, if nothing has to be waited for, by the
 * caller of {@link #start()}; never under a lock of ours. Where they stand on each other more than a few levels deep,
 * the next is run by a thread of Baton's own, as is that of {@link #onTimeout}. To choose who runs it, give an
 * executor.
 *
 * <p><i>Misuse.</i> It may be started as often as one likes, each time anew; from the first start on, nothing can be
 * added. Until then it is one thread's.
 *
 * @param <R> what the functions of all clauses return
 */
public final class Select<R extends @Nullable Object> {
    private final List<Clause<R>> clauses = new ArrayList<>();
    private boolean unbiased;
    private volatile boolean started;

    private Select() {}

    /** One without clauses. */
    public static <R extends @Nullable Object> Select<R> first() {
        return new Select<>();
    }

    /**
     * Receives. The select fails with {@link ChannelClosedException} if the channel is closed and drained.
     *
     * @throws IllegalStateException if this was started
     */
    public <T extends @Nullable Object> Select<R> onReceive(
            AsyncChannel<T> channel, Function<? super T, ? extends R> then) {
        Objects.requireNonNull(then, "then");
        return add(Clauses.receive(channel.kotlin(), then));
    }

    /**
     * Sends {@code element}, when the clause has won. The select fails with {@link ChannelClosedException} if the
     * channel is closed.
     *
     * @throws IllegalStateException if this was started
     */
    public <T extends @Nullable Object> Select<R> onSend(
            AsyncChannel<T> channel, T element, Supplier<? extends R> then) {
        Objects.requireNonNull(then, "then");
        return add(Clauses.send(channel.kotlin(), element, null, then));
    }

    /**
     * As {@link #onSend(AsyncChannel, Object, Supplier)}, at a level that counts where the order is {@link
     * ChannelOrder#PRIORITY}.
     *
     * @throws IllegalStateException if this was started
     */
    public <T extends @Nullable Object> Select<R> onSend(
            AsyncChannel<T> channel, T element, Priority priority, Supplier<? extends R> then) {
        Objects.requireNonNull(priority, "priority");
        Objects.requireNonNull(then, "then");
        return add(Clauses.send(channel.kotlin(), element, priority, then));
    }

    /**
     * Acquires a permit.
     *
     * @throws IllegalStateException if this was started
     */
    public Select<R> onAcquire(AsyncSemaphore semaphore, Function<? super Permit, ? extends R> then) {
        return onAcquire(semaphore, 1, then);
    }

    /**
     * Acquires {@code permits} permits in one.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above those of the semaphore
     * @throws IllegalStateException if this was started
     */
    public Select<R> onAcquire(AsyncSemaphore semaphore, int permits, Function<? super Permit, ? extends R> then) {
        Objects.requireNonNull(then, "then");
        return add(Clauses.acquire(semaphore.kotlin(), permits, null, then));
    }

    /**
     * As {@link #onAcquire(AsyncSemaphore, int, Function)}, at a level that counts where the order is {@link
     * WaitOrder#PRIORITY}.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above those of the semaphore
     * @throws IllegalStateException if this was started
     */
    public Select<R> onAcquire(
            AsyncSemaphore semaphore, int permits, Priority priority, Function<? super Permit, ? extends R> then) {
        Objects.requireNonNull(priority, "priority");
        Objects.requireNonNull(then, "then");
        return add(Clauses.acquire(semaphore.kotlin(), permits, priority, then));
    }

    /**
     * Locks the mutex.
     *
     * @throws IllegalStateException if this was started
     */
    public Select<R> onLock(AsyncMutex mutex, Function<? super Permit, ? extends R> then) {
        Objects.requireNonNull(then, "then");
        return add(Clauses.lock(mutex.kotlin(), null, then));
    }

    /**
     * As {@link #onLock(AsyncMutex, Function)}, with an owner. The select fails with {@link IllegalStateException} if
     * that holds it already.
     *
     * @throws IllegalStateException if this was started
     */
    public Select<R> onLock(AsyncMutex mutex, Object owner, Function<? super Permit, ? extends R> then) {
        Objects.requireNonNull(owner, "owner");
        Objects.requireNonNull(then, "then");
        return add(Clauses.lock(mutex.kotlin(), owner, then));
    }

    /**
     * Locks the lock to read.
     *
     * @throws IllegalStateException if this was started
     */
    public Select<R> onRead(AsyncReadWriteLock lock, Function<? super Permit, ? extends R> then) {
        Objects.requireNonNull(then, "then");
        return add(Clauses.lock(lock.kotlin(), Permit.class, LockMode.READ, then));
    }

    /**
     * Locks the lock to write.
     *
     * @throws IllegalStateException if this was started
     */
    public Select<R> onWrite(AsyncReadWriteLock lock, Function<? super WritePermit, ? extends R> then) {
        Objects.requireNonNull(then, "then");
        return add(Clauses.lock(lock.kotlin(), WritePermit.class, LockMode.WRITE, then));
    }

    /**
     * Waits until the latch is open.
     *
     * @throws IllegalStateException if this was started
     */
    public Select<R> onAwait(AsyncLatch latch, Supplier<? extends R> then) {
        Objects.requireNonNull(then, "then");
        return add(Clauses.await(latch.kotlin(), then));
    }

    /**
     * Waits until the count of the group is zero.
     *
     * @throws IllegalStateException if this was started
     */
    public Select<R> onAwait(AsyncWaitGroup group, Supplier<? extends R> then) {
        Objects.requireNonNull(then, "then");
        return add(Clauses.await(group.kotlin(), then));
    }

    /**
     * Arrives at the barrier, and wins when all have. One that loses takes its arrival back, or breaks the barrier, see
     * {@link BarrierCancellation}; it has arrived for good if it was let in when it lost. The function gets how many
     * were still missing when this party came. A last party that wins runs the barrier's action first; one that loses
     * breaks it.
     *
     * @throws IllegalStateException if this was started
     */
    public Select<R> onArrive(AsyncBarrier barrier, Function<? super Integer, ? extends R> then) {
        Objects.requireNonNull(then, "then");
        return add(Clauses.arrive(barrier.kotlin(), then));
    }

    /**
     * Waits for a stage; the select fails with what that fails with. A clause that loses stops listening and does not
     * cancel the stage. What it listens with is gone then, unless the stage is no {@link CompletableFuture}.
     *
     * @throws IllegalStateException if this was started
     */
    public <T extends @Nullable Object> Select<R> onFuture(
            CompletionStage<? extends T> stage, Function<? super T, ? extends R> then) {
        Objects.requireNonNull(stage, "stage");
        Objects.requireNonNull(then, "then");
        return add(Clauses.stage(stage, then));
    }

    /**
     * Wins when {@code timeout} has passed since the start. Zero and less mean: when no other clause wins at once. The
     * timeout is rounded up to whole milliseconds.
     *
     * @throws IllegalStateException if this was started
     */
    public Select<R> onTimeout(Duration timeout, Supplier<? extends R> then) {
        Objects.requireNonNull(then, "then");
        return add(Clauses.timeout(Timeout.millis(timeout), then));
    }

    /**
     * Has each start try the clauses in an order of its own, by chance.
     *
     * @throws IllegalStateException if this was started
     */
    public Select<R> unbiased() {
        checkNotStarted();
        unbiased = true;
        return this;
    }

    /**
     * Begins to wait.
     *
     * @throws IllegalStateException if there is no clause
     */
    public CompletableFuture<R> start() {
        return run(null);
    }

    /**
     * As {@link #start()}; the winner's function is run by {@code executor}, and by whoever grants if that rejects it.
     *
     * @throws IllegalStateException if there is no clause
     */
    public CompletableFuture<R> start(Executor executor) {
        return run(Objects.requireNonNull(executor, "executor"));
    }

    private CompletableFuture<R> run(@Nullable Executor executor) {
        if (clauses.isEmpty()) throw new IllegalStateException("start of a select without clauses: it would never end");
        started = true;
        if (!unbiased) return SelectFuture.start(clauses, executor);
        List<Clause<R>> shuffled = new ArrayList<>(clauses);
        Collections.shuffle(shuffled);
        return SelectFuture.start(shuffled, executor);
    }

    private Select<R> add(Clause<R> clause) {
        checkNotStarted();
        clauses.add(clause);
        return this;
    }

    private void checkNotStarted() {
        if (started) throw new IllegalStateException("a change after the start of " + this);
    }

    @Override
    public String toString() {
        return "Select (clauses = " + clauses.size() + (started ? ", started" : "") + ")";
    }
}
