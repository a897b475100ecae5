package baton.memory

import java.lang.ref.WeakReference
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.CompletableJob
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

// Checks that need a garbage collection. System.gc() returns when it is done. By then the references to all unreachable
// objects are cleared: there is nothing to wait for.

/** The least that several collections leave. */
fun usedHeap(): Long {
    val runtime = Runtime.getRuntime()
    return (1..4).minOf {
        System.gc()
        runtime.totalMemory() - runtime.freeMemory()
    }
}

/** Collects several times, because a frame that has returned may keep its references until it is overwritten. */
internal fun assertCollected(references: List<WeakReference<*>>) {
    for (attempt in 1..10) {
        System.gc()
        if (references.all { it.get() == null }) return
    }
    assertEquals(emptyList<Any?>(), references.mapNotNull { it.get() })
}

/** Asserts that [run], when it has run for [count] callers, leaves no more than a few blocks behind. */
internal fun assertLeavesNothing(count: Int, run: (count: Int) -> Unit) {
    run(count / 10)
    val before = usedHeap()
    run(count)
    val left = usedHeap() - before
    assertTrue(left <= 256 * 1024, "$left bytes are left")
}

/** Starts a coroutine whose only reference is that of the primitive at which it waits. */
internal fun park(context: CoroutineContext = Dispatchers.Unconfined, request: suspend () -> Unit): Job =
    Job().also { job -> request.startCoroutine(Waiting(job, job + context)) }

private class Waiting(private val job: CompletableJob, override val context: CoroutineContext) : Continuation<Unit> {
    override fun resumeWith(result: Result<Unit>) {
        job.complete()
    }
}
