package baton.hostile

import java.util.concurrent.Executor
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.asCoroutineDispatcher

/** How coroutines come to a [HostileDispatcher]. */
enum class HostileWorld {
    /** It is their dispatcher. */
    DISPATCHER {
        override fun contextOf(hostile: HostileDispatcher): CoroutineContext = hostile
    },

    /** It is the executor behind their dispatcher, as of a thread pool: kotlinx handles a rejection by itself. */
    EXECUTOR {
        override fun contextOf(hostile: HostileDispatcher): CoroutineContext =
            (hostile as Executor).asCoroutineDispatcher()
    },

    /**
     * An interceptor that is no `CoroutineDispatcher` gives it their resumptions. A task that is run twice then resumes
     * its coroutine twice, as a dispatcher's does where assertions are off: kotlinx's check for that is an assertion.
     */
    INTERCEPTOR {
        override fun contextOf(hostile: HostileDispatcher): CoroutineContext = Interceptor(hostile)
    };

    abstract fun contextOf(hostile: HostileDispatcher): CoroutineContext

    private class Interceptor(private val hostile: HostileDispatcher) :
        AbstractCoroutineContextElement(ContinuationInterceptor), ContinuationInterceptor {
        override fun <T> interceptContinuation(continuation: Continuation<T>): Continuation<T> =
            object : Continuation<T> {
                override val context
                    get() = continuation.context

                override fun resumeWith(result: Result<T>) =
                    hostile.dispatch(EmptyCoroutineContext) { continuation.resumeWith(result) }
            }
    }
}
