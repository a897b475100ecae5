package baton.waiting.clock

import baton.BatonClock
import kotlin.coroutines.CoroutineContext

/** The clock of several objects: none of them binds it to another time while a caller waits for any of them. */
internal class SharedClock(given: BatonClock?, private val all: ClockOwner) : BoundClock(given) {
    override fun bind(context: CoroutineContext, owner: ClockOwner): Unit = super.bind(context, all)

    override fun requireKnown(owner: ClockOwner): Unit = super.requireKnown(all)

    override fun requireReal(owner: ClockOwner): Unit = super.requireReal(all)
}
