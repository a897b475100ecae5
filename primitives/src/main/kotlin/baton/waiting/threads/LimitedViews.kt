package baton.waiting.threads

import baton.InternalBatonApi
import kotlinx.coroutines.CoroutineDispatcher

/**
 * Calls `limitedParallelism` by reflection. It has a second parameter since kotlinx.coroutines 1.9, so a direct call
 * links to a method that older versions lack, and the old one cannot be called by source code any more.
 */
@InternalBatonApi
public object LimitedViews {
    private val method =
        CoroutineDispatcher::class.java.methods.filter { it.name == "limitedParallelism" }.maxBy { it.parameterCount }

    /** A view of [dispatcher] on which at most [parallelism] blocks run at a time. */
    @JvmStatic
    public fun of(dispatcher: CoroutineDispatcher, parallelism: Int): CoroutineDispatcher {
        val arguments = arrayOf(parallelism, null).copyOf(method.parameterCount)
        return method.invoke(dispatcher, *arguments) as CoroutineDispatcher
    }
}
