package guide.readme

import baton.monitoring.Deadlocks
import baton.sync.Mutex
import baton.sync.withLock
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.cancelChildren
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test

/** In a JVM of its own, where `-Dbaton.deadlocks=true` is set. */
class ReadmeDeadlockTest {
    private val report = StringBuilder()

    private fun println(line: Any) {
        report.append(line)
    }

    @Test
    fun report_namesWaitersHoldersAndTimes() = runBlocking {
        assumeTrue(Deadlocks.isEnabled)
        val alice = Mutex(name = "alice")
        val bob = Mutex(name = "bob")
        launch(CoroutineName("rent")) { alice.withLock { delay(10.milliseconds).also { bob.withLock {} } } }
        launch(CoroutineName("refund")) { bob.withLock { delay(10.milliseconds).also { alice.withLock {} } } }
        delay(2.seconds) // a cycle is found once it has stood for a second
        Deadlocks.find().forEach { println(it) }
        while (report.isEmpty()) { // the second may begin late on a slow machine
            delay(100.milliseconds)
            Deadlocks.find().forEach { println(it) }
        }
        coroutineContext.cancelChildren()
        val edge =
            Regex(
                "coroutine 'rent' waits for Mutex 'bob' \\(for .*s\\), held by coroutine 'refund' \\(for .*s\\), taken at"
            )
        assertTrue(edge.containsMatchIn(report), report.toString())
    }
}
