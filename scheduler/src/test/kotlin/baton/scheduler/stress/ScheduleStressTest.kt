package baton.scheduler.stress

import baton.Priority
import baton.scheduler.InMemoryScheduleStore
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import java.time.Instant
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.AtomicIntegerArray
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Many threads edit a schedule that fires and is written all the while; the test counts the runs of each entry. */
class ScheduleStressTest {
    private val fired = AtomicIntegerArray(KEYS)

    /** How often each entry may fire, by the edits that it gets. */
    private val least = AtomicIntegerArray(KEYS)
    private val most = AtomicIntegerArray(KEYS)
    private val store = InMemoryScheduleStore<Int>()
    private val config = ScheduleConfig(resolution = 1.milliseconds, flushEvery = 2.milliseconds)
    private val schedule = Schedule(store, 20, "stress", config) { fired.incrementAndGet(it.key) }

    @Test
    fun editsByManyThreads_everyEntryFiresAsOftenAsItMay() =
        runBlocking(Dispatchers.Default) {
            val running = launch { schedule.run() }
            coroutineScope { repeat(THREADS) { thread -> launch { edit(thread until KEYS step THREADS) } } }
            // No wake-up is lost, or an entry would wait for up to a minute.
            withTimeout(2.minutes) { while (schedule.size > 0) delay(10.milliseconds) }
            schedule.shutdown()
            running.join()
            for (key in 0 until KEYS) assertTrue(fired[key] in least[key]..most[key]) { "$key: ${fired[key]} runs" }
            assertEquals(0, store.load(0).size)
            assertEquals(0 to 0, schedule.metrics.let { it.dirty to it.running })
            assertEquals((0 until KEYS).sumOf { fired[it].toLong() }, schedule.metrics.fired)
        }

    private suspend fun edit(keys: IntProgression) {
        val random = ThreadLocalRandom.current()
        for (key in keys) {
            val due = Trigger.at(Instant.now().plusMillis(random.nextLong(-5, 20)))
            schedule.put(key, due, Priority.entries[key % 5])
            least[key] = 1
            most[key] = 1
            when (random.nextInt(6)) {
                0 -> if (schedule.remove(key)) least[key] = 0
                1 -> if (schedule.triggerNow(key)) most[key] = 2
                // It may have fired already.
                2 -> schedule.put(key, due).also { most[key] = 2 }
                3 -> if (schedule.pause(key)) schedule.resume(key).also { most[key] = 2 }
                4 -> schedule.flush()
                else -> {}
            }
            if (key % 64 == 0) delay(1.milliseconds)
        }
    }

    private companion object {
        const val THREADS = 4
        const val KEYS = 20_000
    }
}
