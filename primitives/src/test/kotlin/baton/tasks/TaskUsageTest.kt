package baton.tasks

import java.io.IOException
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Test

/** The forms in which users write it. They must go on to compile. */
class TaskUsageTest {
    @Test
    fun task_asUsersWriteIt() =
        taskTest(inPlace = false) {
            val task: CancellableTask<Int> =
                scope.cancellableTask {
                    onTeardown { delay(1) }
                    42
                }
            val next: CancellableTask<String> = task.then { it.toString() }
            next.cancel()
            assertInstanceOf(CancellationException::class.java, thrownBy { next.await() })
            val two: Deferred<Int> = scope.cancellableTask { 1 }.thenCompose { scope.cancellableTask { it + 1 } }
            assertEquals(listOf(2), awaitAll(two))
        }

    @Test
    fun task_withEverythingThatMayBeGiven() = taskTest {
        val task =
            scope.cancellableTask(CoroutineName("io"), CoroutineStart.LAZY, 5.seconds, name = "copy") {
                val kept: DisposableHandle = onTeardown { cause -> note(cause) }
                launch { delay(1) }
                kept.dispose()
                onTeardown { note(it.message) }
                throw IOException("disk")
            }
        val next = task.then(CoroutineName("io"), teardownTimeout = 5.seconds, name = "report") {}
        next.thenCompose(CoroutineName("io"), teardownTimeout = 5.seconds, name = "mail") { task }.join()
        assertEquals(listOf<Any?>("disk"), log)
        assertEquals("CancellableTask 'report' (failed)", next.toString())
        assertEquals("copy", task.name)
    }
}
