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
 * Waits for several requests at once and gets exactly one of them:
 *
 * <pre>{@code
 * CompletableFuture<String> winner = Select.<String>first()
 *         .onReceive(channel, element -> element)
 *         .onAcquire(semaphore, permit -> { try (permit) { return "permit"; } })
 *         .onTimeout(Duration.ofMillis(50), () -> "late")
 *         .start();
 * }</pre>
 *
 * <p><i>Waiting.</i> Each clause waits in the queue of its primitive, as a future of the same request does. The first
 * clause that is granted wins: the others are withdrawn, then its function runs, and the future completes with the
 * function's result.
 *
 * <p><i>Order.</i> Clauses are tried in the order in which they were added, so the first that need not wait wins. With
 * {@link #unbiased()}, each start shuffles them. Timeouts are always tried last.
 *
 * <p><i>Failures.</i> A clause that fails, for example because its channel is closed and drained, wins, and the future
 * fails with its failure. If the function throws, the future fails with that exception. If the future failed, or was
 * completed from outside, nothing is held: a permit that was given to the function is closed. Otherwise the function,
 * or the code that gets its result, has to close the permit.
 *
 * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, and {@code orTimeout} withdraw all
 * clauses; if one has won, but its function has not begun, its grant is returned. A clause that loses leaves nothing
 * behind: an element stays in its channel, a place or a permit goes to the next waiter. Two things cannot be undone: a
 * party that was released by its barrier has arrived, and a clause that loses affects its barrier as a cancelled party
 * does. The stage of {@link #onFuture} goes on.
 *
 * <p><i>Memory.</i> As the winner's primitive: the send, release or completion that granted the winner happens before
 * its function.
 *
 * <p><i>Callbacks.</i> The winner's function runs on the granting thread or, if no clause had to wait, on the thread
 * that calls {@link #start()}; never under a lock of Baton's. When such calls are nested more than a few levels deep, a
 * thread of Baton's own runs the next function, and always that of {@link #onTimeout}. Give an executor to run it there
 * instead.
 *
 * <p><i>Misuse.</i> It may be started several times; each start waits anew. After the first start the methods that add
 * a clause, and {@link #unbiased}, throw {@link IllegalStateException}. Before it, only one thread may use the select.
 *
 * @param <R> the type of the results of all clauses
 */
public final class Select<R extends @Nullable Object> {
    private final List<Clause<R>> clauses = new ArrayList<>();
    private boolean unbiased;
    private volatile boolean started;

    private Select() {}

    /** A select without clauses. */
    public static <R extends @Nullable Object> Select<R> first() {
        return new Select<>();
    }

    /** Receives. The select fails with {@link ChannelClosedException} if the channel is closed and drained. */
    public <T extends @Nullable Object> Select<R> onReceive(
            AsyncChannel<T> channel, Function<? super T, ? extends R> then) {
        Objects.requireNonNull(channel, "channel");
        Objects.requireNonNull(then, "then");
        return add(Clauses.receive(channel.kotlin(), then));
    }

    /**
     * Sends {@code element} if this clause wins. The select fails with {@link ChannelClosedException} if the
     * channel is closed.
     */
    public <T extends @Nullable Object> Select<R> onSend(
            AsyncChannel<T> channel, T element, Supplier<? extends R> then) {
        Objects.requireNonNull(channel, "channel");
        Objects.requireNonNull(then, "then");
        return add(Clauses.send(channel.kotlin(), element, null, then));
    }

    /**
     * As {@link #onSend(AsyncChannel, Object, Supplier)}, at a level that counts where the order is {@link
     * ChannelOrder#PRIORITY}.
     */
    public <T extends @Nullable Object> Select<R> onSend(
            AsyncChannel<T> channel, T element, Priority priority, Supplier<? extends R> then) {
        Objects.requireNonNull(channel, "channel");
        Objects.requireNonNull(priority, "priority");
        Objects.requireNonNull(then, "then");
        return add(Clauses.send(channel.kotlin(), element, priority, then));
    }

    /** Acquires a permit. */
    public Select<R> onAcquire(AsyncSemaphore semaphore, Function<? super Permit, ? extends R> then) {
        return onAcquire(semaphore, 1, then);
    }

    /**
     * Acquires {@code permits} permits as one.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above those of the semaphore
     */
    public Select<R> onAcquire(AsyncSemaphore semaphore, int permits, Function<? super Permit, ? extends R> then) {
        Objects.requireNonNull(semaphore, "semaphore");
        Objects.requireNonNull(then, "then");
        return add(Clauses.acquire(semaphore.kotlin(), permits, null, then));
    }

    /**
     * As {@link #onAcquire(AsyncSemaphore, int, Function)}, at a level that counts where the order is {@link
     * WaitOrder#PRIORITY}.
     */
    public Select<R> onAcquire(
            AsyncSemaphore semaphore, int permits, Priority priority, Function<? super Permit, ? extends R> then) {
        Objects.requireNonNull(semaphore, "semaphore");
        Objects.requireNonNull(priority, "priority");
        Objects.requireNonNull(then, "then");
        return add(Clauses.acquire(semaphore.kotlin(), permits, priority, then));
    }

    /**
     * Locks the mutex. The select fails with {@link IllegalStateException} if the owner of {@code mutex}, see {@link
     * AsyncMutex#ownedBy}, holds it already.
     */
    public Select<R> onLock(AsyncMutex mutex, Function<? super Permit, ? extends R> then) {
        Objects.requireNonNull(mutex, "mutex");
        Objects.requireNonNull(then, "then");
        return add(Clauses.lock(mutex.kotlin(), mutex.owner(), then));
    }

    /** Locks the lock to read, with the owner of {@code lock} if it has one. */
    public Select<R> onRead(AsyncReadWriteLock lock, Function<? super Permit, ? extends R> then) {
        Objects.requireNonNull(lock, "lock");
        Objects.requireNonNull(then, "then");
        return add(Clauses.lock(lock.kotlin(), Permit.class, LockMode.READ, lock.owner(), then));
    }

    /** Locks the lock to write, with the owner of {@code lock} if it has one. */
    public Select<R> onWrite(AsyncReadWriteLock lock, Function<? super WritePermit, ? extends R> then) {
        Objects.requireNonNull(lock, "lock");
        Objects.requireNonNull(then, "then");
        return add(Clauses.lock(lock.kotlin(), WritePermit.class, LockMode.WRITE, lock.owner(), then));
    }

    /** Waits until the latch is open. */
    public Select<R> onAwait(AsyncLatch latch, Supplier<? extends R> then) {
        Objects.requireNonNull(latch, "latch");
        Objects.requireNonNull(then, "then");
        return add(Clauses.await(latch.kotlin(), then));
    }

    /** Waits until the count of the group is zero. */
    public Select<R> onAwait(AsyncWaitGroup group, Supplier<? extends R> then) {
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(then, "then");
        return add(Clauses.await(group.kotlin(), then));
    }

    /**
     * Arrives at the barrier, and wins when all parties have arrived. A clause that loses retracts its arrival, or
     * breaks the barrier, see {@link BarrierCancellation}; if the barrier had released it when it lost, its arrival is
     * final. The function gets the number of parties that were still missing when this one arrived. A last party that
     * wins runs the barrier's action first; a last party that loses breaks the barrier.
     */
    public Select<R> onArrive(AsyncBarrier barrier, Function<? super Integer, ? extends R> then) {
        Objects.requireNonNull(barrier, "barrier");
        Objects.requireNonNull(then, "then");
        return add(Clauses.arrive(barrier.kotlin(), then));
    }

    /**
     * Waits for a stage; if the stage fails, the select fails with its failure. A clause that loses does not cancel the
     * stage. It removes its listener from the stage, unless the stage is no {@link CompletableFuture}.
     */
    public <T extends @Nullable Object> Select<R> onFuture(
            CompletionStage<? extends T> stage, Function<? super T, ? extends R> then) {
        Objects.requireNonNull(stage, "stage");
        Objects.requireNonNull(then, "then");
        return add(Clauses.stage(stage, then));
    }

    /**
     * Wins when {@code timeout} has passed since the start. With zero or less, it wins if no other clause wins at once.
     * The timeout is rounded up to whole milliseconds.
     */
    public Select<R> onTimeout(Duration timeout, Supplier<? extends R> then) {
        Objects.requireNonNull(then, "then");
        return add(Clauses.timeout(Timeout.millis(timeout), then));
    }

    /** Makes each start try the clauses in a random order of its own. */
    public Select<R> unbiased() {
        checkNotStarted();
        unbiased = true;
        return this;
    }

    /**
     * Starts to wait.
     *
     * @throws IllegalStateException if there is no clause
     */
    public CompletableFuture<R> start() {
        return run(null);
    }

    /**
     * As {@link #start()}, but the winner's function runs on {@code executor}; on the granting thread if the executor
     * rejects that.
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
