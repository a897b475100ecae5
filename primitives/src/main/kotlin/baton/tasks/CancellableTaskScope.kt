package baton.tasks

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.DisposableHandle

/** Where the block of a [CancellableTask] runs. What it starts here are the children of the task. */
public sealed interface CancellableTaskScope : CoroutineScope {
    /**
     * Has [teardown] run if the task ends without a value, that is, if it fails or is cancelled.
     *
     * *Order.* Teardowns begin when the block and all that it has started have ended, so none closes what the block
     * still uses, and run one after another, last registered first. One that is registered after the cancellation, by
     * the block or by another teardown, is no exception: it is the next to run. One that is registered when the last
     * has ended (by another coroutine) runs at once, as a child of the task's scope; what it throws goes to the handler
     * of uncaught exceptions, for the task has told its end already.
     *
     * *Cancellation.* Shielded from it; it may suspend. See the teardown timeout of [cancellableTask].
     *
     * @param teardown gets the reason: what the task fails with.
     * @return takes the registration back, for what is given back already or is to be kept. Too late once the teardown
     *   has begun.
     */
    public fun onTeardown(teardown: suspend (cause: Throwable) -> Unit): DisposableHandle
}
