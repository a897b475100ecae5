package baton.test.interleaving

import kotlin.coroutines.cancellation.CancellationException

/** The cause of a cancellation with which a run tries what follows. */
internal class CancelledByExplore : CancellationException("cancelled by explore")
