@file:Suppress("NEWER_VERSION_IN_SINCE_KOTLIN")

package baton.parallel

import baton.FOR_JAVA_ALONE
import baton.monitoring.Alert
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.AlertBounds
import baton.monitoring.usageOf
import baton.parallel.core.HeapAfterCollection
import java.time.Duration as JavaDuration
import java.util.function.LongSupplier
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.delay

/**
 * A gate that is closed while the heap is nearly full, for work whose results take memory.
 *
 * It closes when more than [high] of the bound is in use, and opens when less than [low] is; in between it stays as it
 * is. The bound is the smaller of [maxBytes] and the JVM's maximum heap. Only data that was left after the last
 * collection is in use, so garbage does not count. `processInChunks` takes a gate and slows down while that is closed.
 *
 * ```
 * val gate = MemoryGate(high = 0.80, low = 0.70, maxBytes = 512L shl 20)
 * urls.processInChunks(size = 50, limit = 10, gate = gate) { fetch(it) }.collect { save(it) }
 * ```
 *
 * Java makes a gate by `create`:
 * ```java
 * MemoryGate gate = MemoryGate.create(0.80, 0.70, 512L << 20);
 * Flow.Publisher<List<String>> chunks = Tasks.processInChunks(urls, 50, 10, gate, this::fetch);
 * ```
 *
 * *Waiting.* [awaitOpen] looks every [every] by `delay`, in the clock of the caller's dispatcher. Waiters have no
 * order: an open gate lets all of them in.
 *
 * *Cancellation.* A cancelled [awaitOpen] throws and leaves nothing behind.
 *
 * *Limits.* The gate never asks for a collection. Until the next one it sees neither new data nor freed data: between
 * two collections, work that is under way may exceed the bound, and a gate that is closed stays closed. So do not wait
 * for it without a timeout where nothing else allocates; `processInChunks` lets one element through at a time then.
 *
 * All members may be called from any thread. One gate may serve many callers.
 *
 * @property high the part of the bound above which the gate closes, above 0 and at most 1.
 * @property low the part of the bound below which the gate opens, at least 0 and below [high].
 * @property maxBytes the bound in bytes where it is smaller than the JVM's maximum heap, at least 1.
 * @property every the time between two looks of a waiter, positive and finite.
 * @param usage returns the bytes in use; by default the heap after the last collection. The thread that looks at the
 *   gate calls it, and gets its exceptions.
 * @throws IllegalArgumentException if a number is out of its bounds.
 */
public class MemoryGate(
    public val high: Double = 0.80,
    public val low: Double = 0.70,
    public val maxBytes: Long = Long.MAX_VALUE,
    public val every: Duration = 50.milliseconds,
    usage: (() -> Long)? = null,
) : Monitored {
    private val read = usage ?: HeapAfterCollection.ofThisJvm
    private val bound: Long

    private val alertBounds = AlertBounds(Alert.Kind.HEAP, high, low)

    @Volatile private var closed = false

    init {
        require(high > 0 && high <= 1) { "high = $high, must be above 0 and at most 1" }
        require(low >= 0 && low < high) { "low = $low, must be at least 0 and below high = $high" }
        require(maxBytes >= 1) { "maxBytes = $maxBytes, must be at least 1" }
        require(every.isPositive() && every.isFinite()) { "every = $every, must be positive and finite" }
        bound = minOf(maxBytes, Runtime.getRuntime().maxMemory())
    }

    /** Reads the memory in use, and returns whether the gate is open. */
    public val isOpen: Boolean
        get() = isOpenAt(read())

    /** None. */
    override val name: String?
        get() = null

    /**
     * The bytes of the bound that are in use: this call looks, too. No caller is counted as waiting. A monitor raises
     * [Alert.Kind.HEAP] from [high] on, and clears it below [low].
     */
    override fun usage(): Usage {
        val used = read()
        isOpenAt(used)
        return usageOf(used, bound, alertBounds)
    }

    /** Waits until the gate is open. An open gate does not suspend, nor check for cancellation. */
    public suspend fun awaitOpen() {
        while (!isOpen) delay(every)
    }

    private fun isOpenAt(used: Long): Boolean {
        if (used > high * bound) closed = true else if (used < low * bound) closed = false
        return !closed
    }

    /** Shows the state and the numbers behind it: this call looks, too. */
    override fun toString(): String {
        val used = read()
        val state = if (isOpenAt(used)) "open" else "closed"
        return "MemoryGate ($state, used = $used of $bound bytes, high = $high, low = $low)"
    }

    public companion object {
        /** The constructor for Java; each parameter from the end on may be left out. */
        @SinceKotlin(FOR_JAVA_ALONE)
        @JvmStatic
        @JvmOverloads
        public fun create(
            high: Double = 0.80,
            low: Double = 0.70,
            maxBytes: Long = Long.MAX_VALUE,
            every: JavaDuration = JavaDuration.ofMillis(50),
            usage: LongSupplier? = null,
        ): MemoryGate =
            MemoryGate(high, low, maxBytes, every.toKotlinDuration(), if (usage == null) null else usage::getAsLong)
    }
}
