package baton.scheduler.jdbc.crash

import baton.scheduler.ScheduleOwnedException
import baton.scheduler.jdbc.databases.JdbcStoreFixture
import java.util.concurrent.TimeUnit
import kotlin.random.Random
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.assertThrows

/** Kills the [JdbcCrashChild] again and again, and checks what it leaves. */
internal class JdbcCrashes(private val fixture: JdbcStoreFixture) {
    private val random = Random(7)
    private var last = 0L

    fun kill(times: Int) = repeat(times) { kill() }

    private fun kill() {
        val child = JdbcCrashChild.start(fixture.database.url, last + 1)
        val confirmed =
            child.inputReader().use { output ->
                var confirmed = last
                val enough = last + random.nextLong(1, 20)
                while (confirmed < enough) {
                    val line = output.readLine() ?: error("the child has ended by itself: ${child.waitFor()}")
                    when {
                        line == "refused" -> {}
                        line.startsWith("found ") -> assertFound(line.removePrefix("found ").toInt())
                        else -> confirmed = line.toLongOrNull() ?: error(line)
                    }
                }
                val end = System.nanoTime() + random.nextLong(5_000_000)
                while (System.nanoTime() < end) Thread.onSpinWait()
                child.toHandle().destroyForcibly()
                assertTrue(child.waitFor(2, TimeUnit.MINUTES))
                output.lineSequence().mapNotNull { it.toLongOrNull() }.lastOrNull() ?: confirmed
            }
        check(confirmed)
        assertIsOwner(child)
    }

    /** The owner that was killed keeps the next one waiting, as long as its sign of life is fresh. */
    private fun assertIsOwner(child: Process) = runBlocking {
        fixture.execute("UPDATE checks_owner SET beat_every = 20000000000000")
        val next = fixture.open()
        val refusal = assertThrows<ScheduleOwnedException> { runBlocking { next.own("next", 1.minutes) } }
        assertTrue(refusal.owner.startsWith("Schedule 'owner', process ${child.pid()} on "), refusal.owner)
        fixture.execute("UPDATE checks_owner SET beat_every = 1, beat_at = 0")
        next.own("next", 1.minutes)
        next.close()
    }

    /** A restarted owner begins with all entries. */
    private fun assertFound(size: Int) = assertEquals(expected().size, size)

    private fun expected() = (1..last).flatMap(JdbcCrashChild::keys).toSet()

    /** There is every confirmed batch, perhaps the one that was under way, as a whole, and nothing else. */
    private fun check(confirmed: Long) = runBlocking {
        last = confirmed
        val reader = fixture.open()
        val found = reader.load(0).mapTo(HashSet()) { it.key }
        reader.close()
        if (found != expected()) last++
        assertEquals(expected(), found)
    }
}
