package baton.waiting.threads

import baton.InternalBatonApi
import kotlinx.coroutines.CoroutineDispatcher

/** A dispatcher that runs its blocks on [underlying], and has the clock of that. */
@InternalBatonApi
public interface DispatcherOver {
    public val underlying: CoroutineDispatcher
}
