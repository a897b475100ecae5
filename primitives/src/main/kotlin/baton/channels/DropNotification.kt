package baton.channels

import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.coroutine.Trampoline

/**
 * Elements that a channel has dropped: one, or all that it held. Stands for them in the list of those to wake, and so
 * tells the user of them when the lock is free.
 */
internal class DropNotification<E>(
    core: WaitCore,
    private val onDropped: (E) -> Unit,
    private var single: Any?,
    private val held: ElementBuffer?,
) : Waiter(core, 0, null) {
    override val resumesOnCallersStack: Boolean get() = true

    override fun resume(): Boolean {
        while (true) {
            val element = next() ?: return true
            @Suppress("UNCHECKED_CAST") // what was sent to a channel of E
            Trampoline.guarded { onDropped(ChannelState.unwrap(element) as E) }
        }
    }

    private fun next(): Any? {
        single?.let {
            single = null
            return it
        }
        return if (held != null && held.size > 0) held.takeFirst() else null
    }

    override fun resumeFailed() {}
}
