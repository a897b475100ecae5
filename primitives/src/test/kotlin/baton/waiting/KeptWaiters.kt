package baton.waiting

import baton.waiting.coroutine.WaiterCache
import baton.waiting.coroutine.awaitGrant
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.intrinsics.createCoroutineUnintercepted
import kotlin.coroutines.resume
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Job

/** Contexts with jobs of their own, [count] of them, whose coroutines have one place in the [WaiterCache]. */
internal fun contextsOfOnePlace(dispatcher: CoroutineDispatcher, count: Int = 2): List<CoroutineContext> {
    val byPlace = HashMap<Int, ArrayList<CoroutineContext>>()
    while (true) {
        val context = dispatcher + Job()
        val same = byPlace.getOrPut(WaiterCache.placeOf(context), ::ArrayList)
        same += context
        if (same.size == count) return same
    }
}

/** Runs the coroutine in [context] itself, and on this thread until it waits. */
internal fun (suspend () -> Unit).startIn(context: CoroutineContext) {
    createCoroutineUnintercepted(Continuation(context) { it.getOrThrow() }).resume(Unit)
}

/** Waits until the [WaiterCache], which chooses at random, keeps the waiter of this coroutine. */
internal suspend fun waitUntilKept() {
    val core = GrantsAtOnce()
    while (!core.hasSeenOneTwice) awaitGrant(core)
}

private class GrantsAtOnce : WaitCore() {
    private var last: Waiter? = null
    var hasSeenOneTwice = false
        private set

    override fun enqueue(waiter: Waiter): Int {
        hasSeenOneTwice = waiter === last
        last = waiter
        check(waiter.tryGrant())
        return Waiter.GRANTED
    }

    override fun takeBack(waiter: Waiter) = Unit

    override fun failure(waiter: Waiter): Throwable = AssertionError()

    override fun verbOf(waiter: Waiter) = "wait"

    override fun label() = "core that grants at once"

    override fun toString() = label()
}
