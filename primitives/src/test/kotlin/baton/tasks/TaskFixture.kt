package baton.tasks

import baton.hostile.HostileDispatcher
import baton.hostile.Hostility
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Delay
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertTrue

/** A scope in virtual time in which one task may fail without the others, and a log of events. */
internal class TaskWorld(val test: TestScope, context: CoroutineContext) {
    val scope = CoroutineScope(test.coroutineContext + SupervisorJob() + context)
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

/**
 * Runs [block] on the dispatcher of a test, and once more on one that runs in place.
 *
 * @param inPlace false where a task must not begin before it was returned, or must not come to its end at once.
 */
internal fun taskTest(inPlace: Boolean = true, block: suspend TaskWorld.() -> Unit) {
    for (runsInPlace in if (inPlace) listOf(false, true) else listOf(false)) {
        runTest {
            val world = TaskWorld(this, if (runsInPlace) InPlace(this) else EmptyCoroutineContext)
            try {
                world.block()
            } finally {
                world.scope.cancel()
            }
        }
    }
}

/** Runs in place, and has the clock of a test. */
@OptIn(InternalCoroutinesApi::class)
private class InPlace(test: TestScope) :
    CoroutineDispatcher(), Delay by test.coroutineContext[ContinuationInterceptor] as Delay {
    private val dispatcher = HostileDispatcher(Hostility.RUNS_IN_PLACE)

    override fun dispatch(context: CoroutineContext, block: Runnable) = dispatcher.dispatch(context, block)
}

/** Returns the exception that [block] throws. A coroutine's cancellation counts as well as any other. */
internal suspend fun thrownBy(block: suspend () -> Unit): Throwable {
    val thrown = runCatching { block() }.exceptionOrNull()
    assertTrue(thrown != null, "nothing was thrown")
    return thrown!!
}
