package baton

import kotlin.coroutines.CoroutineContext

/** What says in a coroutine context how urgent the work is: a [Priority], or a [PriorityController]. */
public interface PriorityElement : CoroutineContext.Element {
    /** The level now. */
    public val level: Priority

    override val key: CoroutineContext.Key<*> get() = Key

    /** The key under which it stands in a coroutine context. */
    public companion object Key : CoroutineContext.Key<PriorityElement>
}

/** The level that stands in this context, or null if it says nothing. */
public val CoroutineContext.priority: Priority? get() = this[PriorityElement]?.level
