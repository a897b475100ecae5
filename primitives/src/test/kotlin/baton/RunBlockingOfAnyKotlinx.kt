package baton

import java.lang.reflect.InvocationTargetException
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineScope

/**
 * kotlinx's `runBlocking`. Compiled against 1.11, a call links to `runBlockingK`, which older versions do not have. The
 * function of the older versions exists in all versions.
 */
fun <T> callBlockingOfAnyKotlinx(
    context: CoroutineContext = EmptyCoroutineContext,
    block: suspend CoroutineScope.() -> T,
): T {
    val method =
        Class.forName("kotlinx.coroutines.BuildersKt")
            .getMethod("runBlocking", CoroutineContext::class.java, Function2::class.java)
    try {
        @Suppress("UNCHECKED_CAST")
        return method.invoke(null, context, block) as T
    } catch (e: InvocationTargetException) {
        throw e.targetException
    }
}

/** As the other, for tests, which must not return a value. */
fun runBlockingOfAnyKotlinx(
    context: CoroutineContext = EmptyCoroutineContext,
    block: suspend CoroutineScope.() -> Unit,
) {
    callBlockingOfAnyKotlinx(context, block)
}
