package baton.interop;

import baton.Priority;
import baton.scheduler.Due;
import baton.scheduler.Overlap;
import baton.scheduler.Schedule;
import baton.scheduler.ScheduleEntry;
import baton.scheduler.ScheduleMetrics;
import baton.scheduler.Trigger;
import baton.scheduler.bridge.ScheduleCalls;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
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
 * <p>{@link AsyncScheduleBuilder#start} starts it, {@link #shutdown} or {@link #close} ends it for good. It has no state of its own:
 * {@link #kotlin()} is the schedule behind it.
 *
 * <p><i>Actions.</i> An action is a function that returns a stage, and its run ends when the stage has completed. Among
 * runs that are due at the same time, the more urgent ones begin first. At most {@link #maxConcurrency} run at a time;
 * the others wait, and {@link Due#lag()} includes that wait. An action that throws, or whose stage fails, is counted
 * and passed to {@link AsyncScheduleBuilder#onFailure}, and its entry stays. A trigger that throws is passed there, too, and stops its
 * entry until the next start at most: {@link #failedTriggers} lists those.
 *
 * <p><i>Clocks.</i> The clock may jump, and may have been wrong before a restart: an entry that is loaded is due at the
 * stored time or at the next one of its trigger from now on, whichever is earlier, and a single time at its own.
 *
 * <p><i>Edits</i> are in effect when the call returns. They are written to the store behind it, see {@link
 * AsyncScheduleBuilder#flushEvery}. After the end of the schedule they and {@link #triggerNow} throw {@link IllegalStateException}.
 *
 * <p><i>Cancellation.</i> The futures of {@link #flush}, {@link #resync}, {@link #shutdown} and {@link #ended} may be
 * cancelled, which ends the wait alone. Removing an entry cancels no run. The end of the schedule cancels the stages
 * that still run after its {@link AsyncScheduleBuilder#grace}.
 *
 * <p><i>Threads.</i> The loop and the actions run on the executor of the builder, which must not block for long: an
 * action that blocks belongs on an executor of its own. {@link AsyncScheduleBuilder#start} begins on the calling thread. While the
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

    AsyncSchedule(Schedule<K> schedule, Executor executor) {
        this.schedule = schedule;
        calls = new ScheduleCalls(schedule, executor);
        calls.start();
    }

    /**
     * A builder of a schedule.
     *
     * @param action called for each run; it must return a stage
     */
    public static <K> AsyncScheduleBuilder<K> builder(Function<? super Due<K>, ? extends CompletionStage<?>> action) {
        return new AsyncScheduleBuilder<>(Objects.requireNonNull(action, "action"));
    }

    /**
     * A builder of a schedule whose actions block: each runs on a virtual thread, before JDK 21 on one of those that
     * Kotlin has for calls that block. An action is interrupted when its run is {@linkplain #cancelRun cancelled},
     * {@linkplain AsyncScheduleBuilder#runTimeout takes too long}, or is cancelled by the end of the schedule; its run ends, and its
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
    public static <K> AsyncScheduleBuilder<K> blockingBuilder(BlockingAction<? super Due<K>> action) {
        return new AsyncScheduleBuilder<>(Objects.requireNonNull(action, "action"));
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
        put(key, trigger, priority, null, false);
    }

    /**
     * As {@link #put(Object, Trigger, Priority)}, with data for the runs of the entry.
     *
     * @param data see {@link Due#getData} and {@link Due#getText}; at most 65,536 bytes, which are copied and stored with
     *     the entry. Null for none
     * @param keepDue whether the due time and the pause of an entry that is there stay as they are: for a program that
     *     puts its entries anew at each start, see {@link Schedule#put}
     * @throws IllegalArgumentException if the data is too long
     */
    public void put(K key, Trigger trigger, Priority priority, byte @Nullable [] data, boolean keepDue) {
        schedule.put(
                Objects.requireNonNull(key, "key"),
                Objects.requireNonNull(trigger, "trigger"),
                Objects.requireNonNull(priority, "priority"),
                data,
                keepDue);
    }

    /**
     * Adds the entry of {@code key} unless there is one. Returns whether there was none; before the entries of the store
     * are loaded, the loaded one stays, whatever this has returned.
     */
    public boolean putIfAbsent(K key, Trigger trigger, Priority priority) {
        return putIfAbsent(key, trigger, priority, null);
    }

    /**
     * As {@link #putIfAbsent(Object, Trigger, Priority)}, with data as in {@link #put(Object, Trigger, Priority, byte[],
     * boolean)}.
     */
    public boolean putIfAbsent(K key, Trigger trigger, Priority priority, byte @Nullable [] data) {
        return schedule.putIfAbsent(
                Objects.requireNonNull(key, "key"),
                Objects.requireNonNull(trigger, "trigger"),
                Objects.requireNonNull(priority, "priority"),
                data);
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
     * #failedTriggers}; an entry that was due once, and whose run has failed, is due at once. No effect on other entries. Returns whether there is such an entry.
     */
    public boolean resume(K key) {
        return schedule.resume(Objects.requireNonNull(key, "key"));
    }

    /** Whether the schedule is paused as a whole. */
    public boolean isPaused() {
        return schedule.isPaused();
    }

    /**
     * Pauses the schedule as a whole: no run begins until {@link #resumeAll}, also over a restart. Running actions go on.
     * Due times that pass meanwhile are misfires, as if the schedule did not run. Runs that wait or are requested begin
     * after {@link #resumeAll}.
     */
    public void pauseAll() {
        schedule.pauseAll();
    }

    /** Ends a {@link #pauseAll}. No effect if there is none. */
    public void resumeAll() {
        schedule.resumeAll();
    }

    /**
     * The first {@code limit} entries, in an order that stays the same while they are there. The next page is that of
     * {@link #entries(Object, int)}, behind the last key of this one.
     *
     * @throws IllegalArgumentException if {@code limit} is below 1
     */
    public List<ScheduleEntry<K>> entries(int limit) {
        return schedule.entries(null, limit);
    }

    /**
     * Up to {@code limit} entries behind that of {@code after}. An entry that is put meanwhile may be missed.
     *
     * @throws IllegalArgumentException if {@code limit} is below 1, or if there is no entry {@code after} any more: go on
     *     behind one before it then
     */
    public List<ScheduleEntry<K>> entries(K after, int limit) {
        return schedule.entries(Objects.requireNonNull(after, "after"), limit);
    }

    /**
     * When the entry of {@code key} is due next; empty if it is not there, is paused, waits for the end of a run, or if
     * its trigger has failed.
     */
    public Optional<Instant> nextDue(K key) {
        return Optional.ofNullable(schedule.nextDue(Objects.requireNonNull(key, "key")));
    }

    /**
     * The keys of the entries whose trigger has thrown, or is unknown to {@link AsyncScheduleBuilder#triggers}. They do not fire: the
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
     * Ends the schedule: no further run begins, running actions get the {@link AsyncScheduleBuilder#grace} to end, then changes are
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
     * schedule for a minute. {@link AsyncScheduleBuilder#onFailure} gets each of them, too.
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
}
