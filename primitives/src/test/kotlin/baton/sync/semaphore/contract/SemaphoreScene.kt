package baton.sync.semaphore.contract

import baton.sync.assertState
import baton.waiting.Caller
import baton.waiting.Callers
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import org.junit.jupiter.api.Assertions.assertEquals

/** A semaphore and its callers, each with a name. */
class SemaphoreScene(val scope: TestScope, val semaphore: SemaphoreFace) {
    val callers = Callers(scope)
    private val byName = mutableMapOf<String, Caller>()

    operator fun get(name: String): Caller = byName.getValue(name)

    /** The callers come one after the other. */
    fun acquire(vararg wanted: Pair<String, Int>) {
        for ((name, n) in wanted) acquire(name, n)
    }

    fun acquire(name: String, n: Int = 1, context: CoroutineContext = EmptyCoroutineContext): Caller =
        callers.call(name, context) { semaphore.acquire(n) }.also { byName[name] = it }

    fun awaitIdle(): Caller = callers.call("idler") { semaphore.awaitIdle() }.also { byName["idler"] = it }

    fun release(n: Int = 1) = semaphore.release(n)

    /** Each releases before the next one that it lets in has run. */
    fun releaseOneByOne(n: Int) =
        repeat(n) {
            semaphore.release()
            scope.runCurrent()
        }

    fun cancel(vararg names: String) = names.forEach { get(it).cancel() }

    /** All that can run runs. Then the callers [served] so far, in that order, and the state. */
    fun assert(served: String, available: Int, waiting: Int = 0) {
        scope.runCurrent()
        assertEquals(served, callers.served.joinToString(" "))
        assertState(semaphore, available, waiting)
    }
}
