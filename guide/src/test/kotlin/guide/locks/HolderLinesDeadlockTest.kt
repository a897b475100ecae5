package guide.locks

import baton.monitoring.Deadlocks
import baton.monitoring.Waits
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.withLock
import baton.sync.withPermit
import baton.sync.withRead
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CoroutineStart.UNDISPATCHED
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelChildren
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test

/** In a JVM of its own, where `-Dbaton.deadlocks=true` is set. */
class HolderLinesDeadlockTest {
    /** Of the caller, so not private: then an accessor would be the caller. */
    fun nextLine() = Throwable().stackTrace[1].lineNumber + 1

    private fun linesIn(text: String) =
        Regex("HolderLinesDeadlockTest\\.kt:([0-9]+)").findAll(text).map { it.groupValues[1].toInt() }

    /** These functions are inlined: the JVM has a line number beyond the end of this file for their bodies. */
    @Test
    fun dump_ofALockTakenInline_namedALineBeyondTheFile() = runBlocking {
        assumeTrue(Deadlocks.isEnabled)
        val mutex = Mutex(name = "inline mutex")
        val semaphore = Semaphore(1, name = "inline permit")
        val lock = ReadWriteLock(name = "inline reader")
        val calls = ArrayList<Int>()
        launch(start = UNDISPATCHED) {
            calls += nextLine()
            mutex.withLock { awaitCancellation() }
        }
        launch(start = UNDISPATCHED) {
            calls += nextLine()
            semaphore.withPermit { awaitCancellation() }
        }
        launch(start = UNDISPATCHED) {
            calls += nextLine()
            lock.withRead { awaitCancellation() }
        }
        val dump = Waits.dump().split("\n\n")
        val shown =
            listOf("inline mutex", "inline permit", "inline reader").map { name ->
                linesIn(dump.single { "'$name'" in it }).first()
            }
        assertEquals(calls, shown)
        coroutineContext.cancelChildren()
    }

    @Test
    fun find_ofLocksTakenInline_namedLinesBeyondTheFile() = runBlocking {
        assumeTrue(Deadlocks.isEnabled)
        val a = Mutex(name = "inline a")
        val b = Mutex(name = "inline b")
        val calls = ArrayList<Int>()
        launch {
            calls += nextLine()
            a.withLock { delay(10.milliseconds).also { b.withLock {} } }
        }
        launch {
            calls += nextLine()
            b.withLock { delay(10.milliseconds).also { a.withLock {} } }
        }
        var found = Deadlocks.find()
        while (found.isEmpty()) {
            delay(100.milliseconds)
            found = Deadlocks.find()
        }
        val edges = found.single().cycle
        assertEquals(calls.toSet(), edges.map { linesIn(it.toString()).first() }.toSet())
        assertEquals(calls.toSet(), edges.map { linesIn(it.takenAt!!.stackTraceToString()).first() }.toSet())
        coroutineContext.cancelChildren()
    }
}
