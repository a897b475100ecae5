package baton.parallel

import baton.parallel.core.FlowSource
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.intrinsics.createCoroutineUnintercepted
import kotlin.coroutines.resume
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class FlowSourceTest {
    private object ResumesAndThrows :
        AbstractCoroutineContextElement(ContinuationInterceptor), ContinuationInterceptor {
        override fun <T> interceptContinuation(continuation: Continuation<T>): Continuation<T> =
            Continuation(continuation.context) {
                continuation.resumeWith(it)
                throw AssertionError("resumed")
            }
    }

    @Test
    fun next_interceptorResumesAndThrows_resumesThePullerOnce() = runTest {
        val source = FlowSource(flowOf(1))
        source.startIn(this)
        val results = mutableListOf<Any?>()
        val pull: suspend () -> Any? = { source.next() }
        pull.createCoroutineUnintercepted(Continuation(ResumesAndThrows) { results += it.getOrNull() }).resume(Unit)
        runCurrent()
        assertEquals(listOf<Any?>(1), results)
    }
}
