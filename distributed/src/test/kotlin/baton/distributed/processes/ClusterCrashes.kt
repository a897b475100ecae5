package baton.distributed.processes

import baton.distributed.Cluster
import java.nio.file.Path
import kotlin.random.Random
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

/** Processes that hold and wait by turns in the store of [place], and are killed again and again. */
internal class ClusterCrashes(private val place: String, private val directory: Path, seed: Int) {
    private val random = Random(seed)
    private var started = 0
    private var summary = ""

    private inner class Child {
        private val file = directory.resolve("child-${started++}").toString()
        private val mutex = HoldLog(Path.of("$file-mutex"))
        private val semaphore = HoldLog(Path.of("$file-semaphore"))
        val process = ClusterChild.start("work", place, file)

        val mutexHolds
            get() = mutex.holds

        val semaphoreHolds
            get() = semaphore.holds

        val isHolder: Boolean
            get() = mutexHolds.takeLast(2).any { it.isOpen }

        fun kill() {
            process.toHandle().destroyForcibly()
            process.waitFor()
        }

        fun end() {
            process.outputWriter().write("end\n")
            process.outputWriter().flush()
            // Between the two it may report that it waits for the store.
            assertEquals("ended", process.inputReader().readLines().last())
        }
    }

    private val all = ArrayList<Child>()

    private fun begin() = Child().also { all += it }

    /** In each round a process is killed that holds the mutex, and one that waits for it. */
    fun kill(rounds: Int) {
        val living = MutableList(LIVING) { begin() }
        var longest = 0L
        try {
            repeat(rounds) {
                val before = System.nanoTime()
                for (child in living) await { child.mutexHolds.any { it.since > before } }
                await { living.any { it.isHolder } }
                // A time, not a number: so that the kill meets any step.
                val end = System.nanoTime() + random.nextLong(3_000_000)
                while (System.nanoTime() < end) Thread.onSpinWait()
                val holder = living.firstOrNull { it.isHolder } ?: living.random(random)
                holder.kill()
                val death = System.nanoTime()
                val waiter = (living - holder).filter { !it.isHolder }.random(random)
                waiter.kill()
                for (victim in listOf(holder, waiter)) living[living.indexOf(victim)] = begin()
                await { living.any { child -> child.mutexHolds.any { it.since > death } } }
                val next = living.flatMap { child -> child.mutexHolds.filter { it.since > death } }.minOf { it.since }
                longest = maxOf(longest, next - death)
            }
            living.forEach { it.end() }
        } finally {
            all.forEach { it.kill() }
        }
        val mutexHolds = all.flatMap { it.mutexHolds }.sortedBy { it.since }
        val semaphoreHolds = all.flatMap { it.semaphoreHolds }
        summary =
            "${rounds * 2} kills, ${mutexHolds.size} and ${semaphoreHolds.size} grants, " +
                "the next one ${longest.nanoseconds.inWholeMilliseconds} ms after a death at most"
        assertEquals(1, HoldLog.mostAtOnce(mutexHolds), summary)
        assertEquals(ClusterChild.PERMITS, HoldLog.mostAtOnce(semaphoreHolds), summary)
        assertTrue(mutexHolds.zipWithNext().all { (first, next) -> first.token < next.token }, summary)
        assertEquals(semaphoreHolds.size, semaphoreHolds.distinctBy { it.token }.size, summary)
        assertNothingIsLeft()
    }

    private fun assertNothingIsLeft() = runBlocking {
        ClusterChild.open(place).use { store ->
            val cluster = Cluster.open(store, lease = ClusterChild.LEASE)
            withTimeout(2.minutes) {
                cluster.mutex("mutex").withLock {}
                cluster.semaphore("semaphore", ClusterChild.PERMITS).withPermits(ClusterChild.PERMITS) {}
                cluster.shutdown()
            }
            for (key in listOf("baton:mutex:mutex", "baton:semaphore:semaphore")) {
                assertEquals(emptyList<Any>(), store.leftOf(key))
            }
        }
    }

    private fun await(condition: () -> Boolean) {
        val deadline = System.nanoTime() + 2.minutes.inWholeNanoseconds
        while (!condition()) {
            all.firstOrNull { it.process.exitedBySelf() }?.let { error(it.process.inputReader().readText()) }
            check(System.nanoTime() < deadline) { "no progress" }
            Thread.yield()
        }
    }

    /** 137 is a kill. */
    private fun Process.exitedBySelf() = !isAlive && exitValue() != KILLED

    override fun toString() = summary

    private companion object {
        const val LIVING = 4
        const val KILLED = 137
    }
}
