package baton.waiting

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CopyableThrowable

/**
 * The cause of all cancellations in these tests: one exception, without a stack trace, and not copied where a coroutine
 * is resumed with it. Stack traces would be most of the cost of these tests.
 */
internal object Enough : CancellationException("enough"), CopyableThrowable<Enough> {
    private fun readResolve(): Any = Enough

    override fun fillInStackTrace(): Throwable = this

    override fun createCopy(): Enough? = null
}
