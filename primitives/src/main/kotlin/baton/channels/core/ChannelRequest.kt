@file:JvmSynthetic

package baton.channels.core

import baton.waiting.Waiter

// The request of a waiter of a channel: an element, the end, a place, or that its own element is taken.

internal val Waiter.receives: Boolean
    get() = request === ChannelState.RECEIVE

internal val Waiter.watchesEnd: Boolean
    get() = request === ChannelState.END

internal val Waiter.reserves: Boolean
    get() = request === ChannelState.PLACE

/** The element of a sender, or PLACE. */
internal val Waiter.asked: Any
    get() = checkNotNull(request)

/** The level at which a sender sends. */
internal val Waiter.level: Int
    get() = number

/** The element that a receiver was granted. */
internal val Waiter.received: Any
    get() = checkNotNull(outcome)

/** The number of [received]. */
internal val Waiter.elementNumber: Int
    get() = number

internal fun Waiter.setReceived(element: Any, elementNumber: Int) {
    outcome = element
    number = elementNumber
}

internal fun Waiter.clearReceived() {
    outcome = null
}
