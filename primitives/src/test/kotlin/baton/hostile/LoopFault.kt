package baton.hostile

import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException

/** Faults of a coroutine that runs by itself. */
enum class LoopFault(private val error: () -> Throwable? = { null }) {
    REFUSED_ONCE,
    REFUSED_FOR_A_SECOND,
    NO_CLASS({ NoClassDefFoundError("kotlin/x") }),
    NO_MEMORY({ OutOfMemoryError("Java heap space") }),
    CANCELLATION({ CancellationException("of the callee") });

    /** Whether the executor rejects; otherwise the code that the loop calls throws. */
    val isRefusal: Boolean
        get() = error() == null

    /** A new exception for the code that the loop calls to throw. */
    fun failure(): Throwable = error()!!

    /** Makes [executor] reject. */
    fun refuse(executor: RefusingExecutor): Unit =
        if (this == REFUSED_ONCE) executor.refuse(1) else executor.refuse(1.seconds)
}
