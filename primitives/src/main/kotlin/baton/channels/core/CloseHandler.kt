package baton.channels.core

import baton.waiting.Wakeup
import baton.waiting.threads.Trampoline
import kotlinx.coroutines.DisposableHandle

/** A handler of `invokeOnClose`. It is an entry of the wake list, so the user's code runs when the lock is free. */
internal class CloseHandler(private val core: ChannelCore<*>, private val handler: (Throwable?) -> Unit) :
    Wakeup(), DisposableHandle {
    /** The cause of the close. Written under the lock, before the handler is woken. */
    var cause: Throwable? = null

    override fun arrive(): Wakeup? {
        Trampoline.run { handler(cause) }
        return null
    }

    override fun dispose() = core.dropCloseHandler(this)
}
