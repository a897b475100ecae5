@file:Suppress("NEWER_VERSION_IN_SINCE_KOTLIN")

package baton.batch

import baton.FOR_JAVA_ALONE
import baton.batch.core.ConfigProperties
import baton.monitoring.Alert
import baton.monitoring.core.AlertBounds
import baton.parallel.MemoryGate
import java.time.Duration as JavaDuration
import java.util.Properties
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration

/**
 * The numbers of a batch job: how much at a time, how often again, how much memory, and when to raise an alert.
 *
 * ```
 * val config = ConcurrencyConfig(maxConcurrentTasks = 8, retry = ConcurrencyConfig.Retry(maxAttempts = 5))
 * val loaded = ConcurrencyConfig.from(System.getProperties(), prefix = "import.")
 * val sized = ConcurrencyConfig.forPool(poolSize = 10, reservePercent = 20)
 * ```
 *
 * It is immutable. A number that is out of its bounds is refused with [IllegalArgumentException], whose message names
 * it, its value and the bound.
 *
 * @property maxConcurrentTasks how many tasks run at the same time, at least 1.
 * @property batchSize how many results are handed over together, at least 1.
 * @property retry how often a task is tried, and how long it waits in between.
 * @property memory the heap above which one task at a time is started.
 * @property monitoring what a monitor of the processor sees, and when it raises an alert.
 */
public class ConcurrencyConfig(
    public val maxConcurrentTasks: Int = 10,
    public val batchSize: Int = 50,
    public val retry: Retry = Retry(),
    public val memory: Memory = Memory(),
    public val monitoring: Monitoring = Monitoring(),
) {
    init {
        atLeast(1, "maxConcurrentTasks", maxConcurrentTasks.toLong())
        atLeast(1, "batchSize", batchSize.toLong())
    }

    override fun toString(): String =
        "ConcurrencyConfig (maxConcurrentTasks = $maxConcurrentTasks, batchSize = $batchSize, retry = $retry, " +
            "memory = $memory, monitoring = $monitoring)"

    /**
     * Delays that double after each attempt, with jitter. Only an `IOException`, a `TimeoutException` and a
     * `TimeoutCancellationException` that is no [baton.Refusal] are tried again. For other exceptions give the
     * [BatchProcessor] a policy.
     *
     * @property maxAttempts how often a task is tried at most, the first attempt included; at least 1.
     * @property baseDelay the delay after the first attempt, above zero; `retry.baseDelayMs` of [from].
     * @property maxDelay the longest delay, at least zero; `retry.maxDelayMs` of [from].
     * @property jitterFactor the part of a delay by which it may be longer or shorter, from 0 to 1.
     */
    public class Retry(
        public val maxAttempts: Int = 3,
        public val baseDelay: Duration = 1.seconds,
        public val maxDelay: Duration = 30.seconds,
        public val jitterFactor: Double = 0.5,
    ) {
        init {
            atLeast(1, "retry.maxAttempts", maxAttempts.toLong())
            require(baseDelay.isPositive()) { "retry.baseDelay = $baseDelay, must be above 0s" }
            require(!maxDelay.isNegative()) { "retry.maxDelay = $maxDelay, must be at least 0s" }
            require(jitterFactor in 0.0..1.0) { "retry.jitterFactor = $jitterFactor, must be within 0..1" }
        }

        /** [baseDelay] for Java. */
        @SinceKotlin(FOR_JAVA_ALONE) public fun baseDelay(): JavaDuration = baseDelay.toJavaDuration()

        /** [maxDelay] for Java. */
        @SinceKotlin(FOR_JAVA_ALONE) public fun maxDelay(): JavaDuration = maxDelay.toJavaDuration()

        override fun toString(): String =
            "(maxAttempts = $maxAttempts, baseDelay = $baseDelay, maxDelay = $maxDelay, jitterFactor = $jitterFactor)"

        public companion object {
            /** The constructor for Java. */
            @SinceKotlin(FOR_JAVA_ALONE)
            @JvmStatic
            public fun create(
                maxAttempts: Int,
                baseDelay: JavaDuration,
                maxDelay: JavaDuration,
                jitterFactor: Double,
            ): Retry = Retry(maxAttempts, baseDelay.toKotlinDuration(), maxDelay.toKotlinDuration(), jitterFactor)
        }
    }

    /**
     * The bound of the heap of this JVM, with all other data in it, as it is after a collection.
     *
     * @property maxHeapUsageMB the bound in MiB, where that is less than the largest heap of the JVM; at least 1.
     * @property gcThresholdPercent the part of it above which one task at a time runs, from 1 to 100. More of them run
     *   again ten points below; at half of it if it is 10 or less.
     */
    public class Memory(public val maxHeapUsageMB: Int = 512, public val gcThresholdPercent: Int = 80) {
        init {
            atLeast(1, "memory.maxHeapUsageMB", maxHeapUsageMB.toLong())
            percent("memory.gcThresholdPercent", gcThresholdPercent)
        }

        @JvmSynthetic
        internal fun newGate(): MemoryGate {
            val low = lowerBound(gcThresholdPercent)
            return MemoryGate(gcThresholdPercent / 100.0, low / 100.0, maxBytes = maxHeapUsageMB.toLong() shl 20)
        }

        override fun toString(): String = "(maxHeapUsageMB = $maxHeapUsageMB, gcThresholdPercent = $gcThresholdPercent)"
    }

    /**
     * The numbers for a `Monitor` that watches the processor.
     *
     * @property enableMetrics whether the items at work are counted.
     * @property alertThresholdPercent the part of [ConcurrencyConfig.maxConcurrentTasks] in use at which to raise an
     *   alert, from 1 to 100. It is cleared ten points lower, or below half of it if it is 10 or less.
     */
    public class Monitoring(public val enableMetrics: Boolean = true, public val alertThresholdPercent: Int = 70) {
        init {
            percent("monitoring.alertThresholdPercent", alertThresholdPercent)
        }

        @JvmSynthetic
        internal fun alertBounds(): AlertBounds =
            AlertBounds(
                Alert.Kind.UTILISATION,
                raiseAt = alertThresholdPercent / 100.0,
                clearBelow = lowerBound(alertThresholdPercent) / 100.0,
            )

        override fun toString(): String =
            "(enableMetrics = $enableMetrics, alertThresholdPercent = $alertThresholdPercent)"
    }

    public companion object {
        /**
         * The configuration whose values stand in [properties] under the [prefix]: `baton.batchSize`,
         * `baton.retry.maxAttempts` and so on. A value that is missing is the default.
         *
         * @throws IllegalArgumentException if a value is no number or out of its bounds, with its key; or if there is
         *   an unknown key under the prefix, with the known one that is most like it.
         */
        @JvmStatic
        @JvmOverloads
        public fun from(properties: Properties, prefix: String = "baton."): ConcurrencyConfig =
            ConfigProperties(properties, prefix).read { readConfig() }

        /**
         * The defaults for a pool of connections: as many tasks at a time as the pool has connections, without the
         * reserve for others; rounded down, at least 1.
         *
         * @param poolSize the number of connections, at least 1.
         * @param reservePercent the part of them for others, from 0 to 100.
         * @throws IllegalArgumentException if a number is out of its bounds.
         */
        @JvmStatic
        @JvmOverloads
        public fun forPool(poolSize: Int, reservePercent: Int = 20): ConcurrencyConfig {
            atLeast(1, "poolSize", poolSize.toLong())
            require(reservePercent in 0..100) { "reservePercent = $reservePercent, must be within 0..100" }
            val tasks = poolSize.toLong() * (100 - reservePercent) / 100
            return ConcurrencyConfig(maxConcurrentTasks = maxOf(tasks.toInt(), 1))
        }

        private fun ConfigProperties.readConfig(): ConcurrencyConfig {
            val defaults = ConcurrencyConfig()
            val retry = defaults.retry
            val memory = defaults.memory
            val monitoring = defaults.monitoring
            return ConcurrencyConfig(
                int("maxConcurrentTasks", defaults.maxConcurrentTasks),
                int("batchSize", defaults.batchSize),
                Retry(
                    int("retry.maxAttempts", retry.maxAttempts),
                    millis("retry.baseDelayMs", least = 1, retry.baseDelay),
                    millis("retry.maxDelayMs", least = 0, retry.maxDelay),
                    value("retry.jitterFactor", retry.jitterFactor, "a number", String::toDoubleOrNull),
                ),
                Memory(
                    int("memory.maxHeapUsageMB", memory.maxHeapUsageMB),
                    int("memory.gcThresholdPercent", memory.gcThresholdPercent),
                ),
                Monitoring(
                    value("monitoring.enableMetrics", monitoring.enableMetrics, "true or false") {
                        it.lowercase().toBooleanStrictOrNull()
                    },
                    int("monitoring.alertThresholdPercent", monitoring.alertThresholdPercent),
                ),
            )
        }

        /** How many points below its threshold the gate opens again, and an alert is cleared. */
        private const val HYSTERESIS = 10.0

        private fun lowerBound(percent: Int) = if (percent > HYSTERESIS) percent - HYSTERESIS else percent / 2.0

        private fun atLeast(least: Long, name: String, value: Long) =
            require(value >= least) { "$name = $value, must be at least $least" }

        private fun percent(name: String, value: Int) =
            require(value in 1..100) { "$name = $value, must be within 1..100" }
    }
}
