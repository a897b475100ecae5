package baton.tasks

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertTrue

/** A scope in virtual time in which one task may fail without the others, and a place to note what happened. */
internal class TaskWorld(val test: TestScope) {
    val scope = CoroutineScope(test.coroutineContext + SupervisorJob())
    val log = mutableListOf<Any?>()

    fun note(what: Any?) {
        log += what
    }

    /** A task that goes on for ever and notes its teardown. */
    fun endless(label: String) =
        scope.cancellableTask(name = label) {
            onTeardown { note(label) }
            awaitCancellation()
        }
}

internal fun taskTest(block: suspend TaskWorld.() -> Unit) =
    runTest {
        val world = TaskWorld(this)
        try {
            world.block()
        } finally {
            world.scope.cancel()
        }
    }

/** What [block] throws, which a coroutine's cancellation is as well as any other. */
internal suspend fun thrownBy(block: suspend () -> Unit): Throwable {
    val thrown = runCatching { block() }.exceptionOrNull()
    assertTrue(thrown != null, "nothing was thrown")
    return thrown!!
}
