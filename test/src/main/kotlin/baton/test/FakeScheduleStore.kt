package baton.test

import baton.BatonClock
import baton.scheduler.InMemoryScheduleStore
import baton.scheduler.ScheduleRow
import baton.scheduler.ScheduleStore
import baton.waiting.clock.BoundClock
import baton.waiting.clock.LabelledOwner
import java.io.IOException
import java.time.Duration
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.resume
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.suspendCancellableCoroutine

/**
 * A store for tests of a schedule, which fails and is slow where a test wants it to.
 *
 * ```
 * val store = FakeScheduleStore<String>()
 * store.failNext(2)                     // the next two calls
 * store.failFor(10.minutes)             // an outage
 * store.delayCalls(3.seconds)
 * ```
 *
 * The calls are those of `load`, `apply`, `own`, `renew` and `setPaused`. One that fails throws an [IOException] and
 * has no effect. The delay comes before the effect, and before the failure. All members may be called from any thread.
 *
 * @param inside the store that keeps the rows.
 * @param clock measures spans and delays; by default the clock of the schedule that calls.
 */
public class FakeScheduleStore<K : Any>
@JvmOverloads
constructor(private val inside: ScheduleStore<K> = InMemoryScheduleStore(), clock: BatonClock? = null) :
    ScheduleStore<K> by inside {
    private val time = BoundClock(clock)

    private val failures = AtomicInteger()
    private val called = AtomicInteger()
    @Volatile private var failsUntil = Long.MIN_VALUE
    @Volatile private var delay = Duration.ZERO

    /** How many calls there were, those that failed included. */
    public val calls: Int
        get() = called.get()

    /**
     * The next [calls] calls fail; those that were to fail before do not count any more.
     *
     * @throws IllegalArgumentException if [calls] is negative.
     */
    public fun failNext(calls: Int) {
        require(calls >= 0) { "calls = $calls, must be at least 0" }
        failures.set(calls)
    }

    /**
     * Calls whose effect would come within [span] from now fail. Zero ends an outage.
     *
     * @throws IllegalArgumentException if [span] is negative, or above 292 years.
     */
    public fun failFor(span: Duration) {
        val nanos = nanosOf(span, "span")
        failsUntil = time.read().let { if (nanos > Long.MAX_VALUE - it) Long.MAX_VALUE else it + nanos }
    }

    /** As the other, for a duration of Kotlin. */
    public fun failFor(span: kotlin.time.Duration): Unit = failFor(span.toJavaDuration())

    /**
     * Each call from now on takes [delay]; zero ends that.
     *
     * @throws IllegalArgumentException if [delay] is negative, or above 292 years.
     */
    public fun delayCalls(delay: Duration) {
        nanosOf(delay, "delay")
        this.delay = delay
    }

    /** As the other, for a duration of Kotlin. */
    public fun delayCalls(delay: kotlin.time.Duration): Unit = delayCalls(delay.toJavaDuration())

    override suspend fun load(since: Long): List<ScheduleRow<K>> {
        beginCall("load")
        return inside.load(since)
    }

    override suspend fun apply(rows: List<ScheduleRow<K>>): Long {
        beginCall("apply")
        return inside.apply(rows)
    }

    override suspend fun own(owner: String, renewEvery: kotlin.time.Duration): Boolean {
        beginCall("own")
        return inside.own(owner, renewEvery)
    }

    override suspend fun renew() {
        beginCall("renew")
        inside.renew()
    }

    override suspend fun setPaused(isPaused: Boolean) {
        beginCall("setPaused")
        inside.setPaused(isPaused)
    }

    private suspend fun beginCall(call: String) {
        val context = currentCoroutineContext()
        time.bind(context, LabelledOwner(toString()))
        called.incrementAndGet()
        val delay = delay
        if (!delay.isZero) {
            suspendCancellableCoroutine { caller ->
                val timer = time.schedule(delay.toKotlinDuration(), context) { caller.resume(Unit) }
                caller.invokeOnCancellation { timer?.dispose() }
            }
        }
        if (fails(time.read())) throw failureOf(call)
    }

    /** Without its frames: a schedule without `onFailure` prints it, and the test knows where it comes from. */
    private fun failureOf(call: String) =
        IOException("$call of a FakeScheduleStore fails, as the test wants it").apply { stackTrace = emptyArray() }

    private fun fails(now: Long): Boolean = failures.getAndUpdate { maxOf(it - 1, 0) } > 0 || now < failsUntil

    private fun nanosOf(duration: Duration, name: String): Long {
        require(!duration.isNegative) { "$name = $duration, must be at least 0" }
        return try {
            duration.toNanos()
        } catch (e: ArithmeticException) {
            throw IllegalArgumentException("$name = $duration, must be at most 292 years", e)
        }
    }

    override fun toString(): String = "FakeScheduleStore of $inside"
}
