package baton.channels

import baton.waiting.Wakeup
import baton.waiting.coroutine.Trampoline

/**
 * Elements that a channel has dropped: one, or all that it held. Stands for them in the list of those to wake, and so
 * tells the user of them when the lock is free.
 */
internal class DropNotification<E>(
    private val onDropped: (E) -> Unit,
    private var single: Any?,
    private val held: ElementBuffer?,
) : Wakeup() {
    override fun arrive(): Wakeup? {
        Trampoline.run(::report)
        return null
    }

    private fun report() {
        while (true) {
            val element = next() ?: return
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
}
