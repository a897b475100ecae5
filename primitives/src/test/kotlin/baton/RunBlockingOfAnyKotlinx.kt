package baton

import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineScope

/**
 * kotlinx's `runBlocking`. Compiled against 1.11, a call links to `runBlockingK`, which older versions do not have. The
 * function of the older versions exists in all versions.
 */
fun runBlockingOfAnyKotlinx(
    context: CoroutineContext = EmptyCoroutineContext,
    block: suspend CoroutineScope.() -> Unit,
) {
    val method =
        Class.forName("kotlinx.coroutines.BuildersKt")
            .getMethod("runBlocking", CoroutineContext::class.java, Function2::class.java)
    try {
        method.invoke(null, context, block)
    } catch (e: java.lang.reflect.InvocationTargetException) {
        throw e.targetException
    }
}
