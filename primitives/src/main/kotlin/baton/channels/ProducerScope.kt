package baton.channels

import kotlinx.coroutines.CoroutineScope

/**
 * The scope of the block of [produce]: it sends to the channel of the producer, and its children are the producer's.
 * Only Baton makes it: later versions may add members.
 */
public interface ProducerScope<in E> : CoroutineScope, SendChannel<E> {
    /** The channel of the producer, which this scope is too. */
    public val channel: SendChannel<E>
}
