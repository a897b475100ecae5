package baton.test.interleaving

import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.ThreadContextElement

/** A coroutine with this [context] went on in a [thread] that is not explored. */
internal class Outside(private val context: CoroutineContext, private val thread: String) {
    fun failure(): IllegalStateException {
        val name = context[CoroutineName]?.name ?: "a coroutine"
        val dispatcher = context[ContinuationInterceptor]
        val isResumed = dispatcher is Explorer || dispatcher == null
        val what =
            if (isResumed) "$name was resumed by the thread '$thread'"
            else "$name runs on $dispatcher, in the thread '$thread'"
        val advice = if (isResumed) OF_A_CALLBACK else OF_A_DISPATCHER
        return IllegalStateException("$what, which is not explored. $advice")
    }

    private companion object {
        const val OF_A_CALLBACK =
            "Resume it from a coroutine of the body instead: let a fake call back from one that the body launches"

        const val OF_A_DISPATCHER =
            "Use the dispatcher of the body instead, by passing " +
                "coroutineContext[ContinuationInterceptor] as CoroutineDispatcher to the code that chooses another one"
    }
}

/** Sees where the coroutines run that inherit the context of the body. */
internal class ThreadCheck(private val explorer: Explorer) :
    AbstractCoroutineContextElement(Key), ThreadContextElement<Unit> {
    override fun updateThreadContext(context: CoroutineContext) {
        if (!explorer.isItsThread()) explorer.foundOutside(context)
    }

    override fun restoreThreadContext(context: CoroutineContext, oldState: Unit) {}

    private companion object Key : CoroutineContext.Key<ThreadCheck>
}
