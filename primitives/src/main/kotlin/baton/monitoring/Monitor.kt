package baton.monitoring

import baton.BatonClock
import baton.InternalBatonApi
import baton.monitoring.core.DeadlockAlerts
import baton.monitoring.core.LookClock
import baton.monitoring.core.MonitorListener
import baton.monitoring.core.MonitorListeners
import baton.monitoring.core.Watch
import baton.waiting.clock.BoundClock
import baton.waiting.clock.onClock
import baton.waiting.threads.LoopKeeper
import baton.waiting.threads.Trampoline
import java.lang.ref.WeakReference
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancel
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch

/**
 * Checks watched objects at regular times, and raises an alert when one is out of its bounds for a while.
 *
 * ```
 * val monitor = Monitor(scope, rules = AlertRules(utilisation = 0.70, after = 5.seconds)) { log(it) }
 * monitor.watch(semaphore, name = "uplink")
 * monitor.watch("pool") { Usage(inUse = pool.active, capacity = 10) }
 * monitor.snapshot()["uplink"]?.longestWait
 * ```
 *
 * *Alerts.* An alert is raised once when its condition has held for [AlertRules.after] without a break, and cleared
 * once when the opposite has: see [Alert.Kind] for the conditions. A share between the two bounds of the rules changes
 * nothing, but breaks what was counted. [AlertRules.after] counts from the first look that sees the condition. An alert
 * of a source that is closed, or is not in memory any more, ends without a call.
 *
 * *Deadlocks.* Where [Deadlocks.isEnabled], each look counts as a call of [Deadlocks.find]. An alert is raised once a
 * deadlock of any locks, watched or not, has stood for [AlertRules.after] and at least a second. It is cleared at the
 * first look that finds it dissolved.
 *
 * *Limits.* A look samples the amount in use, so it misses a spike between two looks. It does not miss that a caller
 * had to wait: see [Usage.peakWaiting]. The longest wait is that of the callers that wait at the look; a wait that
 * began before the source was watched counts from the first look.
 *
 * *Cost.* One coroutine for all objects. While an object is watched, each wait for it notes when it began. Calls that
 * need not wait do nothing for the monitor.
 *
 * *Where.* The looks, and `onAlert`, run in a coroutine in the scope, one at a time, with no lock held. A slow
 * `onAlert` delays the next look. It runs by the clock of the scope's dispatcher, a virtual one too. There, waits that
 * are noted in the system's time count from the first look that sees them. While an executor rejects the monitor, a
 * look is late: the monitor tries again, at least every 100 ms.
 *
 * *Failures.* An exception of `onAlert` or of a usage function goes to the scope's `CoroutineExceptionHandler`, or else
 * to the thread's handler for uncaught exceptions, and the monitor goes on. A usage function that fails again and again
 * is reported once. A `CancellationException` of theirs is the cause of the exception that is reported. So is what the
 * executor throws when it rejects the monitor, once until a look takes place. The monitor ends, and reports that, if
 * the executor was shut down, or if a dispatcher that does not tell whether it was has refused for a minute.
 *
 * *Cancellation.* Cancelling the scope closes the monitor. The scope waits for its monitor as for any child, until
 * [close].
 *
 * *Memory.* It does not keep what it watches in memory, except the usage functions of its watches. It publishes
 * nothing.
 *
 * *Misuse.* To watch after [close], or under a name that is watched already, throws.
 *
 * All members may be called from any thread.
 *
 * @property every the time between two looks, positive and finite. The first look is at once.
 * @property rules for sources without rules of their own.
 * @param clock that of the looks; by default that of the scope's dispatcher. See [BatonClock].
 * @param onAlert gets each alert when it is raised, and when it is cleared.
 * @throws IllegalArgumentException if [every] is not positive and finite.
 */
public class Monitor(
    private val scope: CoroutineScope,
    public val every: Duration = 500.milliseconds,
    public val rules: AlertRules = AlertRules(),
    clock: BatonClock? = null,
    onAlert: (Alert) -> Unit = {},
) : AutoCloseable {
    private val looks: LookClock
    private val listeners = MonitorListeners(onAlert, ::report)
    private val deadlocks: DeadlockAlerts

    /** By name, in the order in which they were added. Guarded by itself. */
    private val watches = LinkedHashMap<String, Watch>()
    private var isClosed = false

    private val keeper = LoopKeeper(scope.coroutineContext, "Monitor", ::report, onGone = ::gone)
    private val job: Job

    init {
        require(every.isPositive() && every.isFinite()) { "every = $every, must be positive and finite" }
        looks = LookClock(BoundClock(clock, context = scope.coroutineContext))
        deadlocks = DeadlockAlerts(rules.after, looks) { Deadlocks.look(it) }
        val context = keeper.dispatcher + (scope.coroutineContext + keeper.dispatcher).onClock(clock)
        job = scope.launch(context, CoroutineStart.LAZY) { run() }
        job.invokeOnCompletion { end() }
        job.start()
    }

    /**
     * Watches [source] until the result is closed, or the source is not in memory any more.
     *
     * @param name in alerts and snapshots, where it alone tells sources apart, also those of two types; by default the
     *   source's own name, or that of its class, with a number if that is watched already.
     * @param rules for this source; null for those of the monitor. They replace a bound of utilisation that the source
     *   brings with it, but not what an open breaker, an empty budget or a full heap is.
     * @throws IllegalArgumentException if a source with this [name] is watched already.
     * @throws IllegalStateException if the monitor is closed, or its scope has ended.
     */
    public fun watch(source: Monitored, name: String? = null, rules: AlertRules? = null): AutoCloseable {
        val type = source.javaClass.simpleName.ifEmpty { "Monitored" }
        val reference = WeakReference(source)
        val watch =
            add(name ?: source.name ?: type, isDerived = name == null) {
                Watch(it, type, rules, ::forget, looks, reference) { reference.get()?.usage() }
            }
        // Not with the next look.
        tryToBegin(watch)
        return watch
    }

    /**
     * Watches what [usage] returns, which is called at each look and [snapshot], until the result is closed.
     *
     * @throws IllegalArgumentException if a source with this [name] is watched already.
     * @throws IllegalStateException if the monitor is closed, or its scope has ended.
     */
    public fun watch(name: String, rules: AlertRules? = null, usage: () -> Usage): AutoCloseable =
        add(name, isDerived = false) { Watch(it, TYPE_OF_FUNCTIONS, rules, ::forget, looks, monitored = null, usage) }

    private inline fun add(name: String, isDerived: Boolean, make: (String) -> Watch): Watch =
        synchronized(watches) {
            check(!isClosed && job.isActive) { "watch of $name by a Monitor that is closed" }
            val free = if (isDerived) freeName(name) else name
            require(free !in watches) { "name = $free, is watched already by this Monitor" }
            make(free).also { watches[free] = it }
        }

    private fun freeName(derived: String): String {
        if (derived !in watches) return derived
        return generateSequence(2) { it + 1 }.map { "$derived $it" }.first { it !in watches }
    }

    /** The alerts that are raised at present; none once the monitor is closed, or its scope has ended. */
    public val active: List<Alert>
        get() = if (job.isActive) current().flatMap { it.raised } + deadlocks.raised else emptyList()

    /**
     * The usage of each source by name, read now, in the order in which they were added. [Usage.peakWaiting] is since
     * the last snapshot. A usage function that throws is left out, and reported at each call.
     */
    public fun snapshot(): Map<String, Usage> {
        val usages = LinkedHashMap<String, Usage>()
        for (watch in current()) {
            try {
                val usage = watch.snapshot()
                if (usage == null) watch.close() else usages[watch.name] = usage
            } catch (e: Throwable) {
                report(e)
            }
        }
        return usages
    }

    /** Ends the watches. No look begins after this; one that goes on is not waited for. A second close does nothing. */
    override fun close() {
        job.cancel(null)
        end()
    }

    private fun forget(watch: Watch) {
        synchronized(watches) { watches.remove(watch.name, watch) }
    }

    private fun current(): List<Watch> = synchronized(watches) { ArrayList(watches.values) }

    private fun end() {
        val ended =
            synchronized(watches) {
                if (isClosed) return
                isClosed = true
                ArrayList(watches.values).also { watches.clear() }
            }
        ended.forEach { it.release() }
        listeners.closed()
    }

    private suspend fun run(): Nothing =
        keeper.repeat(every) {
            look(current())
            lookForDeadlocks()
            delay(every)
            looks.advance()
        }

    private fun gone(why: Exception) = job.cancel("Monitor has ended", why)

    private fun look(watches: List<Watch>) {
        listeners.begin(watches)
        for (watch in watches) if (!watch.look(rules, listeners, ::report)) watch.close()
    }

    /**
     * Until the result is closed.
     *
     * @throws IllegalStateException if the monitor is closed, or its scope has ended.
     */
    @InternalBatonApi
    public fun addListener(listener: MonitorListener): AutoCloseable =
        synchronized(watches) {
            check(!isClosed) { "addListener to a Monitor that is closed" }
            listeners.add(listener)
        }

    private fun lookForDeadlocks() {
        try {
            deadlocks.look(listeners::alerted)
        } catch (e: Throwable) {
            report(e)
        }
    }

    private fun tryToBegin(watch: Watch) {
        try {
            watch.begin()
        } catch (_: Throwable) {
            // The next look reports it.
        }
    }

    private fun report(e: Throwable) {
        val context = scope.coroutineContext
        val handler = context[CoroutineExceptionHandler]
        val failure = LoopKeeper.failureOf(e, "a function of Monitor")
        try {
            if (handler == null) Trampoline.report(failure) else handler.handleException(context, failure)
        } catch (e: Throwable) {
            Trampoline.report(e)
        }
    }

    override fun toString(): String {
        val watched = current()
        return "Monitor (every = $every, watches = ${watched.size}, alerts = ${active.size})"
    }

    private companion object {
        /** The type of a source that is a function. */
        const val TYPE_OF_FUNCTIONS = "Usage"
    }
}
