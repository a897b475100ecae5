package baton.channels.core

import baton.waiting.Wakeup
import baton.waiting.threads.Trampoline

/**
 * Hands dropped elements to `onDropped`: a single one, or all that the channel had buffered. It is an entry of the wake
 * list, so the user's code runs when the lock is free.
 */
internal class DropNotification<E>(
    private val onDropped: (E) -> Unit,
    private var single: Any?,
    private val buffer: ElementBuffer?,
) : Wakeup() {
    override fun arrive(): Wakeup? {
        Trampoline.run(::report)
        return null
    }

    private fun report() {
        while (true) {
            val element = next() ?: return
            @Suppress("UNCHECKED_CAST") // The element was sent to a channel of E.
            Trampoline.guarded { onDropped(ChannelState.unwrap(element) as E) }
        }
    }

    private fun next(): Any? {
        single?.let {
            single = null
            return it
        }
        return if (buffer != null && buffer.size > 0) buffer.takeFirst() else null
    }
}
