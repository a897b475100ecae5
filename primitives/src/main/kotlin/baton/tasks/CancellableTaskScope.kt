package baton.tasks

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.DisposableHandle

/** The scope of the block of a [CancellableTask]. Coroutines that are launched in it are children of the task. */
public sealed interface CancellableTaskScope : CoroutineScope {
    /**
     * Registers [teardown] to run if the task ends without a value, that is, if it fails or is cancelled.
     *
     * *Order.* Teardowns start when the block and all coroutines that it started have ended, so that none closes a
     * resource that the block still uses. They run one after another, last registered first. A teardown that the block
     * or another teardown registers after the cancellation is no exception: it is the next to run. A teardown that
     * another coroutine registers after the last one has ended runs at once, as a child of the task's scope; its
     * exception goes to the handler of uncaught exceptions, because the task has completed already.
     *
     * *Cancellation.* A teardown is shielded from cancellation and may suspend. See the teardown timeout of
     * [cancellableTask].
     *
     * @param teardown gets the reason: the exception with which the task fails.
     * @return revokes the registration, for a resource that was released already or is to be kept. Has no effect once
     *   the teardown has started.
     */
    public fun onTeardown(teardown: suspend (cause: Throwable) -> Unit): DisposableHandle
}
