package baton.interop;

import baton.BatonClock;
import baton.Priority;
import baton.interop.internal.parallel.BlockingThreads;
import baton.scheduler.Due;
import baton.scheduler.Misfire;
import baton.scheduler.Overlap;
import baton.scheduler.Schedule;
import baton.scheduler.ScheduleConfig;
import baton.scheduler.ScheduleMetrics;
import baton.scheduler.ScheduleStore;
import baton.scheduler.Trigger;
import baton.scheduler.bridge.ScheduleBridge;
import baton.scheduler.bridge.ScheduleCalls;
import baton.scheduler.bridge.ScheduleSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Schedule} for Java: runs an action for each of its entries at the times of the entry's trigger, a limited
 * number at a time. Entries are kept in memory, so a run costs no I/O.
 *
 * <pre>{@code
 * try (AsyncSchedule<String> checks = AsyncSchedule.<String>builder(due -> check(due.getKey()))
 *         .store(ScheduleStores.journal(Path.of("checks.journal")))
 *         .maxConcurrency(200)
 *         .start()) {
 *     checks.put("example.org", Triggers.every(Duration.ofMinutes(2)));
 *     checks.put("login", Triggers.every(Duration.ofMinutes(1)), Priority.HIGH);
 *     stopped.join();
 * }
 * }</pre>
 *
 * <p>{@link Builder#start} starts it, {@link #shutdown} or {@link #close} ends it for good. It has no state of its own:
 * {@link #kotlin()} is the schedule behind it.
 *
 * <p><i>Actions.</i> An action is a function that returns a stage, and its run ends when the stage has completed. Among
 * runs that are due at the same time, the more urgent ones begin first. At most {@link #maxConcurrency} run at a time;
 * the others wait, and {@link Due#lag()} includes that wait. An action that throws, or whose stage fails, is counted
 * and passed to {@link Builder#onFailure}, and its entry stays. A trigger that throws is passed there, too, and stops its
 * entry until the next start at most: {@link #failedTriggers} lists those.
 *
 * <p><i>Clocks.</i> The clock may jump, and may have been wrong before a restart: an entry that is loaded is due at the
 * stored time or at the next one of its trigger from now on, whichever is earlier, and a single time at its own.
 *
 * <p><i>Edits</i> are in effect when the call returns. They are written to the store behind it, see {@link
 * Builder#flushEvery}. After the end of the schedule they and {@link #triggerNow} throw {@link IllegalStateException}.
 *
 * <p><i>Cancellation.</i> The futures of {@link #flush}, {@link #resync}, {@link #shutdown} and {@link #ended} may be
 * cancelled, which ends the wait alone. Removing an entry cancels no run. The end of the schedule cancels the stages
 * that still run after its {@link Builder#grace}.
 *
 * <p><i>Threads.</i> The loop and the actions run on the executor of the builder, which must not block for long: an
 * action that blocks belongs on an executor of its own. {@link Builder#start} begins on the calling thread. While the
 * executor rejects, entries fire late: the loop and the runs are offered again, at least every 100 ms, and a run that waits
 * keeps its place among the {@link #maxConcurrency}. So that number should be within what the executor takes. End the
 * schedule before its executor: after a {@code shutdown} of the executor the schedule ends at its next wake-up, within a
 * minute, and runs that have not begun are due at the next start; after a {@code shutdownNow} it may never end. An executor
 * that is no {@code ExecutorService} does not tell whether it was shut down: the schedule ends when that has rejected for a
 * minute.
 *
 * <p><i>Memory.</i> Actions before an edit happen before the runs that it causes, and a run happens before the later
 * runs of its entry under {@link Overlap#SKIP} or {@link Overlap#QUEUE_ONE}.
 *
 * <p><i>Misuse.</i> The {@code equals} and {@code hashCode} of a key run under a lock and must not call the schedule.
 * Only one schedule at a time may use a store, so start only one with a builder that has a store.
 *
 * <p>All members may be called from any thread.
 *
 * @param <K> the keys of the entries; they need {@code equals} and {@code hashCode}, and must not change
 */
public final class AsyncSchedule<K> implements AutoCloseable {
    private final Schedule<K> schedule;
    private final ScheduleCalls calls;

    private AsyncSchedule(Schedule<K> schedule, Executor executor) {
        this.schedule = schedule;
        calls = new ScheduleCalls(schedule, executor);
        calls.start();
    }

    /**
     * A builder of a schedule.
     *
     * @param action called for each run; it must return a stage
     */
    public static <K> Builder<K> builder(Function<? super Due<K>, ? extends CompletionStage<?>> action) {
        return new Builder<>(Objects.requireNonNull(action, "action"));
    }

    /**
     * A builder of a schedule whose actions block: each runs on a virtual thread, before JDK 21 on one of those that
     * Kotlin has for calls that block. An action is interrupted when its run is {@linkplain #cancelRun cancelled},
     * {@linkplain Builder#runTimeout takes too long}, or is cancelled by the end of the schedule; its run ends, and its
     * place is free, when it has returned.
     *
     * <pre>{@code
     * AsyncSchedule<String> checks = AsyncSchedule.<String>blockingBuilder(due -> check(due.getKey()))
     *         .runTimeout(key -> Duration.ofMinutes(1))
     *         .start();
     * }</pre>
     *
     * @param action called for each run, on a thread of its own; the executor of the builder runs the loop alone
     */
    public static <K> Builder<K> blockingBuilder(BlockingAction<? super Due<K>> action) {
        return new Builder<>(Objects.requireNonNull(action, "action"));
    }

    /** The Kotlin schedule behind this. */
    public Schedule<K> kotlin() {
        return schedule;
    }

    /** As {@link #put(Object, Trigger, Priority)}, at {@link Priority#NORMAL}. */
    public void put(K key, Trigger trigger) {
        put(key, trigger, Priority.NORMAL);
    }

    /**
     * Adds the entry of {@code key}, or replaces its trigger and its level; its next due time is counted from now. A
     * pause ends, and a run that goes on continues. If the trigger has no due time, there is no entry afterwards; if it
     * throws, the entry does not fire, see {@link #failedTriggers}.
     */
    public void put(K key, Trigger trigger, Priority priority) {
        schedule.put(
                Objects.requireNonNull(key, "key"),
                Objects.requireNonNull(trigger, "trigger"),
                Objects.requireNonNull(priority, "priority"));
    }

    /** Removes the entry of {@code key}; a run that goes on is not cancelled. Returns whether there was an entry. */
    public boolean remove(K key) {
        return schedule.remove(Objects.requireNonNull(key, "key"));
    }

    /**
     * Runs the entry of {@code key} once now, also if it is paused; its due times stay. If a run of the entry goes on,
     * the requested one begins after it, unless {@link Overlap#ALLOW}; requests whose run has not begun count as one.
     * Returns whether there is such an entry.
     */
    public boolean triggerNow(K key) {
        return schedule.triggerNow(Objects.requireNonNull(key, "key"));
    }

    /**
     * Cancels all runs of the entry: those that go on, whose stage is cancelled or thread interrupted, those that wait,
     * and a request of {@link #triggerNow}. Each counts as cancelled and is not repeated; missed due times are not made up
     * for any more. The entry and its due times stay; one that was due once is removed at the end of its cancelled run.
     *
     * @return how many there were
     */
    public int cancelRun(K key) {
        return schedule.cancelRun(Objects.requireNonNull(key, "key"));
    }

    /**
     * Leaves the entry of {@code key} without due times until {@link #resume}. Returns whether there is such an entry.
     */
    public boolean pause(K key) {
        return schedule.pause(Objects.requireNonNull(key, "key"));
    }

    /**
     * Ends a pause: the next due time is counted from now. So it is if the trigger has failed, see {@link
     * #failedTriggers}. No effect on other entries. Returns whether there is such an entry.
     */
    public boolean resume(K key) {
        return schedule.resume(Objects.requireNonNull(key, "key"));
    }

    /**
     * When the entry of {@code key} is due next; empty if it is not there, is paused, waits for the end of a run, or if
     * its trigger has failed.
     */
    public Optional<Instant> nextDue(K key) {
        return Optional.ofNullable(schedule.nextDue(Objects.requireNonNull(key, "key")));
    }

    /**
     * The keys of the entries whose trigger has thrown, or is unknown to {@link Builder#triggers}. They do not fire: the
     * trigger is tried again by {@link #resume}, by a {@link #put(Object, Trigger)}, and at the next start of a schedule
     * with the same store. Empty if all is well. Looks at all entries.
     */
    public List<K> failedTriggers() {
        return schedule.failedTriggers();
    }

    /** The number of entries, paused ones included. */
    public int size() {
        return schedule.getSize();
    }

    /** The number of actions that may run at a time. */
    public int maxConcurrency() {
        return schedule.getMaxConcurrency();
    }

    /** A snapshot of its metrics. */
    public ScheduleMetrics metrics() {
        return schedule.getMetrics();
    }

    /** Writes all changes to the store now. The future fails as the store does; the changes are kept then. */
    public CompletableFuture<@Nullable Void> flush() {
        return calls.flush();
    }

    /**
     * Reads the changes of other writers from the store, once the entries are loaded. The future fails as the store
     * does, and with an {@code IllegalStateException} if the schedule has ended.
     */
    public CompletableFuture<@Nullable Void> resync() {
        return calls.resync();
    }

    /**
     * Ends the schedule: no further run begins, running actions get the {@link Builder#grace} to end, then changes are
     * written and the store is closed. The future completes after that, within twice the grace and a second for the
     * store to close; it fails as {@link #ended} does.
     */
    public CompletableFuture<@Nullable Void> shutdown() {
        return calls.shutdown();
    }

    /**
     * Completes when the schedule has ended, after {@link #shutdown}. It fails if the store could not be read at the
     * start: then the schedule has never run. It fails with a {@code CancellationException} if the executor was shut
     * down before, and with a {@code RejectedExecutionException} if an executor that does not tell that has rejected the
     * schedule for a minute. {@link Builder#onFailure} gets each of them, too.
     */
    public CompletableFuture<@Nullable Void> ended() {
        return calls.ended();
    }

    /**
     * As {@link #shutdown}, and waits for it, at most twice the grace and a second. If the thread is interrupted it waits all the
     * same, and stays interrupted. A run that calls this waits until the grace is over.
     *
     * @throws java.util.concurrent.CompletionException if the store could not be read, see {@link #ended}
     * @throws java.util.concurrent.CancellationException if the executor was shut down before
     */
    @Override
    public void close() {
        shutdown().join();
    }

    @Override
    public String toString() {
        return "Async" + schedule;
    }

    /**
     * Configures and starts an {@link AsyncSchedule}. The defaults are those of {@link ScheduleConfig}. Not thread-safe.
     */
    public static final class Builder<K> {
        private final @Nullable Function<? super Due<K>, ? extends CompletionStage<?>> action;
        private final @Nullable BlockingAction<? super Due<K>> blockingAction;
        private ScheduleSettings settings = new ScheduleSettings();
        private @Nullable ScheduleStore<K> store;
        private int maxConcurrency = 200;
        private @Nullable String name;
        private Executor executor = AsyncTaskSchedulerBuilder.defaultExecutor();

        private Builder(Function<? super Due<K>, ? extends CompletionStage<?>> action) {
            this.action = action;
            blockingAction = null;
        }

        private Builder(BlockingAction<? super Due<K>> action) {
            this.action = null;
            blockingAction = action;
        }

        private Builder<K> with(Consumer<ScheduleSettings> change) {
            settings = settings.with(change);
            return this;
        }

        /** Where the entries are kept; by default in memory. */
        public Builder<K> store(ScheduleStore<K> store) {
            this.store = Objects.requireNonNull(store, "store");
            return this;
        }

        /**
         * The number of actions that may run at a time; by default 200.
         *
         * @throws IllegalArgumentException if {@code number} is below 1
         */
        public Builder<K> maxConcurrency(int number) {
            if (number < 1) {
                throw new IllegalArgumentException("maxConcurrency = " + number + ", must be at least 1");
            }
            maxConcurrency = number;
            return this;
        }

        /**
         * Runs the loop and the actions. By default it is the common pool, or {@code Dispatchers.IO} if that pool has
         * no thread.
         */
        public Builder<K> executor(Executor executor) {
            this.executor = Objects.requireNonNull(executor, "executor");
            return this;
        }

        /** The name shown by messages and {@code toString}; by default null, which is none. */
        public Builder<K> name(@Nullable String name) {
            this.name = name;
            return this;
        }

        /** Due times that passed while the schedule did not run have no run, see {@link Misfire.Skip}. */
        public Builder<K> skipMissed() {
            return with(it -> it.misfire = Misfire.Skip.INSTANCE);
        }

        /**
         * Up to {@code max} due times that passed while the schedule did not run are made up for, see {@link
         * Misfire.CatchUp}. By default one run stands for all of them.
         *
         * @throws IllegalArgumentException if {@code max} is below 1
         */
        public Builder<K> catchUp(int max) {
            return with(it -> it.misfire = new Misfire.CatchUp(max));
        }

        /** The policy for an entry that is due while its last run goes on; by default {@link Overlap#SKIP}. */
        public Builder<K> overlap(Overlap overlap) {
            return with(it -> it.overlap = Objects.requireNonNull(overlap, "overlap"));
        }

        /**
         * Wake-ups are at whole multiples of {@code time}, by default 10 ms: a run may be late by as much.
         *
         * @throws IllegalArgumentException if {@code time} is below 1 ms
         */
        public Builder<K> resolution(Duration time) {
            return with(it -> it.resolution = Objects.requireNonNull(time, "time"));
        }

        /**
         * How long after a change the changed entries are written to the store; by default 5 s. After a crash the runs
         * of so much time may be repeated.
         *
         * @throws IllegalArgumentException if {@code time} is below 1 ms
         */
        public Builder<K> flushEvery(Duration time) {
            return with(it -> it.flushEvery = Objects.requireNonNull(time, "time"));
        }

        /**
         * The time between two reads of the changes of other writers from the store; by default 12 h.
         *
         * @throws IllegalArgumentException if {@code time} is below 1 ms
         */
        public Builder<K> resyncEvery(Duration time) {
            return with(it -> it.resyncEvery = Objects.requireNonNull(time, "time"));
        }

        /**
         * How long the end of the schedule waits for runs before it cancels them, and then for the store; by default
         * 10 s.
         *
         * @throws IllegalArgumentException if {@code time} is negative
         */
        public Builder<K> grace(Duration time) {
            return with(it -> it.grace = Objects.requireNonNull(time, "time"));
        }

        /** The triggers that a store knows by name, see {@link Triggers#named}. */
        public Builder<K> triggers(Map<String, ? extends Trigger> triggers) {
            return with(it -> it.triggers = Map.copyOf(triggers));
        }

        /**
         * Called with the key and the exception of its action or its trigger; with the key and the store's refusal of
         * its row; once for each outage, with the store and its failure; and with the {@link AsyncSchedule#kotlin()
         * Kotlin schedule} and what delays or ends it, such as an executor that rejects it or was shut down, or a clock
         * that throws. It must not block. By default each failure is passed to the thread's handler of uncaught exceptions.
         */
        public Builder<K> onFailure(BiConsumer<Object, ? super Throwable> listener) {
            return with(it -> it.onFailure = Objects.requireNonNull(listener, "listener"));
        }

        /**
         * How long a run may take from its begin: then its stage is cancelled, or its thread interrupted, and the run has
         * failed with a {@code TaskTimeoutException}, whatever becomes of it. By default there is no limit.
         *
         * @param timeout called with the key at the begin of each run; null for no limit. If it throws, or returns a time
         *     that is not positive, that is the failure of the run, whose action is not called
         */
        @SuppressWarnings("unchecked") // all keys are of K
        public Builder<K> runTimeout(Function<? super K, ? extends @Nullable Duration> timeout) {
            Objects.requireNonNull(timeout, "timeout");
            return with(it -> it.runTimeout = (Function<Object, @Nullable Duration>) timeout);
        }

        /** The time; by default the system's. */
        public Builder<K> clock(BatonClock clock) {
            return with(it -> it.clock = Objects.requireNonNull(clock, "clock"));
        }

        /**
         * Starts a new schedule: it loads the store's entries, and then runs the entries that are due. If the store cannot
         * be read, this call returns all the same: {@link #onFailure} gets the store and the failure, and {@link
         * AsyncSchedule#ended} fails.
         */
        public AsyncSchedule<K> start() {
            ScheduleStore<K> from = store == null ? ScheduleStores.inMemory() : store;
            return new AsyncSchedule<>(newSchedule(from), executor);
        }

        private Schedule<K> newSchedule(ScheduleStore<K> from) {
            ScheduleConfig config = settings.toConfig();
            BlockingAction<? super Due<K>> blocking = blockingAction;
            if (blocking == null)
                return ScheduleBridge.newSchedule(from, maxConcurrency, name, config, Objects.requireNonNull(action));
            Executor threads = BlockingThreads.ofCall(BlockingThreads.defaultExecutor(), maxConcurrency);
            return ScheduleBridge.newBlockingSchedule(from, maxConcurrency, name, config, threads, blocking::accept);
        }
    }
}
