package baton.waiting

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CopyableThrowable

/**
 * The cause of cancelling where that is done a hundred thousand times: one for all, without a stack trace, and not
 * copied where a coroutine is resumed with it. Traces would be most of what these tests cost.
 */
internal object Enough : CancellationException("enough"), CopyableThrowable<Enough> {
    private fun readResolve(): Any = Enough

    override fun fillInStackTrace(): Throwable = this

    override fun createCopy(): Enough? = null
}
