package baton

import kotlin.coroutines.CoroutineContext

/** The element of a coroutine context that gives the urgency of its work: a [Priority], or a [PriorityController]. */
public interface PriorityElement : CoroutineContext.Element {
    /** The current level. */
    public val level: Priority

    override val key: CoroutineContext.Key<*>
        get() = Key

    /** The key of this element in a coroutine context. */
    public companion object Key : CoroutineContext.Key<PriorityElement>
}

/** The level in this context, or null if there is none. */
public val CoroutineContext.priority: Priority?
    get() = this[PriorityElement]?.level
