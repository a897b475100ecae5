package baton.batch

import java.util.Properties
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource

class ConcurrencyConfigTest {
    private fun properties(vararg pairs: Pair<String, String>) =
        Properties().apply { pairs.forEach { (key, value) -> setProperty(key, value) } }

    /** The text of a configuration shows each value. */
    private fun assertText(expected: ConcurrencyConfig, config: ConcurrencyConfig) =
        assertEquals("$expected", "$config")

    @Test
    fun toString_showsEachValue() {
        assertEquals(
            "ConcurrencyConfig (maxConcurrentTasks = 10, batchSize = 50, " +
                "retry = (maxAttempts = 3, baseDelay = 1s, maxDelay = 30s, jitterFactor = 0.5), " +
                "memory = (maxHeapUsageMB = 512, gcThresholdPercent = 80), " +
                "monitoring = (enableMetrics = true, alertThresholdPercent = 70))",
            "${ConcurrencyConfig()}",
        )
    }

    @Test
    fun from_withoutValues_isTheDefaults() {
        assertText(ConcurrencyConfig(), ConcurrencyConfig.from(Properties()))
        assertText(ConcurrencyConfig(), ConcurrencyConfig.from(properties("batchSize" to "7", "other.x" to "y")))
    }

    @Test
    fun from_readsEveryValue() {
        val config =
            ConcurrencyConfig.from(
                properties(
                    "import.maxConcurrentTasks" to "8",
                    "import.batchSize" to " 20 ",
                    "import.retry.maxAttempts" to "5",
                    "import.retry.baseDelayMs" to "${Long.MAX_VALUE}",
                    "import.retry.maxDelayMs" to "0",
                    "import.retry.jitterFactor" to "0.25",
                    "import.memory.maxHeapUsageMB" to "256",
                    "import.memory.gcThresholdPercent" to "100",
                    "import.monitoring.enableMetrics" to "FALSE",
                    "import.monitoring.alertThresholdPercent" to "1",
                ),
                prefix = "import.",
            )
        val expected =
            ConcurrencyConfig(
                maxConcurrentTasks = 8,
                batchSize = 20,
                ConcurrencyConfig.Retry(5, Duration.INFINITE, Duration.ZERO, 0.25),
                ConcurrencyConfig.Memory(256, 100),
                ConcurrencyConfig.Monitoring(false, 1),
            )
        assertText(expected, config)
    }

    @Test
    fun retry_withADelayOutOfItsBounds_namesValueAndBound() {
        val base = assertThrows<IllegalArgumentException> { ConcurrencyConfig.Retry(baseDelay = Duration.ZERO) }
        val max = assertThrows<IllegalArgumentException> { ConcurrencyConfig.Retry(maxDelay = -1.seconds) }
        assertEquals("retry.baseDelay = 0s, must be above 0s", base.message)
        assertEquals("retry.maxDelay = -1s, must be at least 0s", max.message)
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        value =
            [
                "maxConcurrentTasks | 0 | p.maxConcurrentTasks = 0, must be at least 1",
                "batchSize | -2147483648 | p.batchSize = -2147483648, must be at least 1",
                "batchSize | 2147483648 | p.batchSize = 2147483648, must be within -2147483648..2147483647",
                "batchSize | '' | p.batchSize = '', must be a whole number",
                "retry.maxAttempts | 0 | p.retry.maxAttempts = 0, must be at least 1",
                "retry.baseDelayMs | 0 | p.retry.baseDelayMs = 0, must be at least 1",
                "retry.maxDelayMs | -1 | p.retry.maxDelayMs = -1, must be at least 0",
                "retry.jitterFactor | 1.01 | p.retry.jitterFactor = 1.01, must be within 0..1",
                "retry.jitterFactor | NaN | p.retry.jitterFactor = NaN, must be within 0..1",
                "retry.jitterFactor | much | p.retry.jitterFactor = 'much', must be a number",
                "memory.maxHeapUsageMB | 0 | p.memory.maxHeapUsageMB = 0, must be at least 1",
                "memory.gcThresholdPercent | 0 | p.memory.gcThresholdPercent = 0, must be within 1..100",
                "memory.gcThresholdPercent | 101 | p.memory.gcThresholdPercent = 101, must be within 1..100",
                "monitoring.enableMetrics | yes | p.monitoring.enableMetrics = 'yes', must be true or false",
                "monitoring.alertThresholdPercent | 101 | p.monitoring.alertThresholdPercent = 101, must be within 1..100",
            ],
    )
    fun from_withAnInvalidValue_namesKeyValueAndBound(key: String, value: String, message: String) {
        val refusal =
            assertThrows<IllegalArgumentException> {
                ConcurrencyConfig.from(properties("p.$key" to value), prefix = "p.")
            }
        assertEquals(message, refusal.message)
    }

    @ParameterizedTest
    @CsvSource(
        "baton.batchsize, baton.batchSize",
        "baton.maxAttempts, baton.retry.maxAttempts",
        "baton.retry.jitter, baton.retry.jitterFactor",
        "baton., baton.batchSize",
    )
    fun from_withAnUnknownKey_namesTheNearestKnownOne(key: String, nearest: String) {
        val refusal = assertThrows<IllegalArgumentException> { ConcurrencyConfig.from(properties(key to "1")) }
        assertEquals("unknown key '$key'; the nearest known one is '$nearest'", refusal.message)
    }

    @Test
    fun from_withAValueThatIsNoString_namesItsKey() {
        val refusal =
            assertThrows<IllegalArgumentException> {
                ConcurrencyConfig.from(Properties().apply { put("baton.batchSize", 20) })
            }
        assertEquals("baton.batchSize = 20, must be a string", refusal.message)
    }

    @Test
    fun from_readsPastOtherPropertiesOfBaton() {
        val others = properties("baton.deadlocks" to "true", "baton.futures.traces" to "true")
        assertText(ConcurrencyConfig(), ConcurrencyConfig.from(others))
    }

    @ParameterizedTest
    @CsvSource("10, 20, 8", "1, 20, 1", "3, 50, 1", "10, 0, 10", "10, 100, 1", "2147483647, 0, 2147483647")
    fun forPool_leavesTheReserve(poolSize: Int, reserve: Int, tasks: Int) {
        assertEquals(tasks, ConcurrencyConfig.forPool(poolSize, reserve).maxConcurrentTasks)
    }

    @ParameterizedTest
    @ValueSource(ints = [Int.MIN_VALUE, -1, 0])
    fun forPool_ofNoConnections_throws(poolSize: Int) {
        assertThrows<IllegalArgumentException> { ConcurrencyConfig.forPool(poolSize) }
    }

    @ParameterizedTest
    @ValueSource(ints = [Int.MIN_VALUE, -1, 101, Int.MAX_VALUE])
    fun forPool_withAReserveOutOfRange_throws(reserve: Int) {
        assertThrows<IllegalArgumentException> { ConcurrencyConfig.forPool(10, reserve) }
    }

    /** Each text in the properties is refused, or makes a configuration that a processor takes. */
    @Test
    fun from_withRandomValues_isRefusedOrUsable() {
        val random = Random(1)
        val values =
            listOf("0", "1", "-1", "99", "101", "2147483647", "9223372036854775807", "0.5", "1e308", "true", " ", "x")
        val keys =
            listOf("maxConcurrentTasks", "batchSize", "retry.maxAttempts", "retry.baseDelayMs", "retry.maxDelayMs") +
                listOf("retry.jitterFactor", "memory.maxHeapUsageMB", "memory.gcThresholdPercent") +
                listOf("monitoring.enableMetrics", "monitoring.alertThresholdPercent", "nothing")
        var accepted = 0
        repeat(20_000) {
            val chosen = List(random.nextInt(4)) { "baton.${keys.random(random)}" to values.random(random) }
            try {
                val config = ConcurrencyConfig.from(properties(*chosen.toTypedArray()))
                if (accepted++ % 10 == 0)
                    assertEquals(1, runBlocking { BatchProcessor(config).process(1..1) {} }.succeeded)
            } catch (e: IllegalArgumentException) {
                check(chosen.any { (key, _) -> key in e.message.orEmpty() }) { "$chosen: $e" }
            }
        }
        check(accepted > 1_000) { "$accepted" }
    }
}
