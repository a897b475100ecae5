package baton.interop;

import baton.BatonClock;
import baton.interop.internal.parallel.BlockingThreads;
import baton.resilience.RetryPolicy;
import baton.scheduler.Due;
import baton.scheduler.Misfire;
import baton.scheduler.Overlap;
import baton.scheduler.Schedule;
import baton.scheduler.ScheduleConfig;
import baton.scheduler.ScheduleStore;
import baton.scheduler.Trigger;
import baton.scheduler.bridge.ScheduleBridge;
import baton.scheduler.bridge.ScheduleSettings;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Configures and starts an {@link AsyncSchedule}. The defaults are those of {@link ScheduleConfig}. Not thread-safe.
 */
public final class AsyncScheduleBuilder<K> {
    private final @Nullable Function<? super Due<K>, ? extends CompletionStage<?>> action;
    private final @Nullable BlockingAction<? super Due<K>> blockingAction;
    private ScheduleSettings settings = new ScheduleSettings();
    private @Nullable ScheduleStore<K> store;
    private int maxConcurrency = 200;
    private @Nullable String name;
    private Executor executor = AsyncTaskSchedulerBuilder.defaultExecutor();

    AsyncScheduleBuilder(Function<? super Due<K>, ? extends CompletionStage<?>> action) {
        this.action = action;
        blockingAction = null;
    }

    AsyncScheduleBuilder(BlockingAction<? super Due<K>> action) {
        this.action = null;
        blockingAction = action;
    }

    private AsyncScheduleBuilder<K> with(Consumer<ScheduleSettings> change) {
        settings = settings.with(change);
        return this;
    }

    /** Where the entries are kept; by default in memory. */
    public AsyncScheduleBuilder<K> store(ScheduleStore<K> store) {
        this.store = Objects.requireNonNull(store, "store");
        return this;
    }

    /**
     * The number of actions that may run at a time; by default 200.
     *
     * @throws IllegalArgumentException if {@code number} is below 1
     */
    public AsyncScheduleBuilder<K> maxConcurrency(int number) {
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
    public AsyncScheduleBuilder<K> executor(Executor executor) {
        this.executor = Objects.requireNonNull(executor, "executor");
        return this;
    }

    /** The name shown by messages and {@code toString}; by default null, which is none. */
    public AsyncScheduleBuilder<K> name(@Nullable String name) {
        this.name = name;
        return this;
    }

    /** Due times that passed while the schedule did not run have no run, see {@link Misfire.Skip}. */
    public AsyncScheduleBuilder<K> skipMissed() {
        return with(it -> it.misfire = Misfire.Skip.INSTANCE);
    }

    /**
     * Up to {@code max} due times that passed while the schedule did not run are made up for, see {@link
     * Misfire.CatchUp}. By default one run stands for all of them.
     *
     * @throws IllegalArgumentException if {@code max} is below 1
     */
    public AsyncScheduleBuilder<K> catchUp(int max) {
        return with(it -> it.misfire = new Misfire.CatchUp(max));
    }

    /** The policy for an entry that is due while its last run goes on; by default {@link Overlap#SKIP}. */
    public AsyncScheduleBuilder<K> overlap(Overlap overlap) {
        return with(it -> it.overlap = Objects.requireNonNull(overlap, "overlap"));
    }

    /**
     * Wake-ups are at whole multiples of {@code time}, by default 10 ms: a run may be late by as much.
     *
     * @throws IllegalArgumentException if {@code time} is below 1 ms
     */
    public AsyncScheduleBuilder<K> resolution(Duration time) {
        return with(it -> it.resolution = Objects.requireNonNull(time, "time"));
    }

    /**
     * How long after a change the changed entries are written to the store; by default 5 s. After a crash the runs
     * of so much time may be repeated.
     *
     * @throws IllegalArgumentException if {@code time} is below 1 ms
     */
    public AsyncScheduleBuilder<K> flushEvery(Duration time) {
        return with(it -> it.flushEvery = Objects.requireNonNull(time, "time"));
    }

    /**
     * The time between two reads of the changes of other writers from the store; by default 12 h.
     *
     * @throws IllegalArgumentException if {@code time} is below 1 ms
     */
    public AsyncScheduleBuilder<K> resyncEvery(Duration time) {
        return with(it -> it.resyncEvery = Objects.requireNonNull(time, "time"));
    }

    /**
     * How long the end of the schedule waits for runs before it cancels them, and then for the store; by default
     * 10 s.
     *
     * @throws IllegalArgumentException if {@code time} is negative
     */
    public AsyncScheduleBuilder<K> grace(Duration time) {
        return with(it -> it.grace = Objects.requireNonNull(time, "time"));
    }

    /** The triggers that a store knows by name, see {@link Triggers#named}. */
    public AsyncScheduleBuilder<K> triggers(Map<String, ? extends Trigger> triggers) {
        return with(it -> it.triggers = Map.copyOf(triggers));
    }

    /**
     * Called with the key and the exception of its action or its trigger; with the key and the store's refusal of
     * its row; once for each outage, with the store and its failure; and with the {@link AsyncSchedule#kotlin()
     * Kotlin schedule} and what delays or ends it, such as an executor that rejects it or was shut down, or a clock
     * that throws. It must not block. By default each failure is passed to the thread's handler of uncaught exceptions.
     */
    public AsyncScheduleBuilder<K> onFailure(BiConsumer<Object, ? super Throwable> listener) {
        return with(it -> it.onFailure = Objects.requireNonNull(listener, "listener"));
    }

    /**
     * How long a run may take from its begin: then its stage is cancelled, or its thread interrupted, and the run has
     * failed with a {@code TaskTimeoutException}, whatever becomes of it. By default there is no limit.
     *
     * @param timeout called with the key at the begin of each run; null for no limit. If it throws, or returns a time
     *     that is not positive, that is the failure of the run, whose action is not called
     */
    public AsyncScheduleBuilder<K> runTimeout(Function<? super K, ? extends @Nullable Duration> timeout) {
        Objects.requireNonNull(timeout, "timeout");
        return with(it -> it.runTimeout = ofAnyKey(timeout));
    }

    /**
     * How often a failed run is tried again, and when, see {@link ScheduleConfig#getRetry}: between two attempts the
     * run gives its place back. {@link #onFailure} gets the last failure alone. By default there is no retry.
     *
     * @param policy called with the key at the begin of each run; null for no retry. An exception that it throws is
     *     the failure of the run
     */
    public AsyncScheduleBuilder<K> retry(Function<? super K, ? extends @Nullable RetryPolicy> policy) {
        Objects.requireNonNull(policy, "policy");
        return with(it -> it.retry = ofAnyKey(policy));
    }

    /** A configuration has no type of keys, as schedules of several types may share it. */
    @SuppressWarnings("unchecked") // only this schedule has the configuration, and all of its keys are of K
    private static <K, R extends @Nullable Object> Function<Object, R> ofAnyKey(Function<? super K, R> ofKey) {
        return (Function<Object, R>) ofKey;
    }

    /** The time; by default the system's. */
    public AsyncScheduleBuilder<K> clock(BatonClock clock) {
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
