package baton.waiting.coroutine

import baton.channels.Channel
import baton.hostile.HostileDispatcher
import baton.hostile.Hostility
import baton.sync.Mutex
import baton.waiting.FakeCore
import baton.waiting.Waiter
import baton.waiting.contextsOfOnePlace
import baton.waiting.startIn
import baton.waiting.waitUntilKept
import kotlin.concurrent.thread
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class WaiterCacheTest {
    private val core = FakeCore()
    private var waitsDone = 0

    /** Where assertions are on, kotlinx reports the second run of a block. */
    private val complaints = CoroutineExceptionHandler { _, _ -> }

    private fun waitThrice(dispatcher: CoroutineDispatcher): Job =
        CoroutineScope(dispatcher + complaints).launch {
            waitUntilKept()
            repeat(3) {
                awaitGrant(core, number = 1, request = null)
                waitsDone++
            }
        }

    @Test
    fun secondWait_ofOneCoroutine_usesTheFirstWaiter() {
        waitThrice(Dispatchers.Unconfined)

        core.grant(core.enqueued.last())

        assertSame(core.enqueued[0], core.enqueued[1])
    }

    @Test
    fun secondWait_onAnotherThread_usesTheFirstWaiter() {
        val dispatcher = ThreadForEach()
        waitThrice(dispatcher)
        dispatcher.join()

        repeat(2) {
            core.grant(core.enqueued.last())
            dispatcher.join()
        }

        assertEquals(3, dispatcher.threads.toSet().size)
        assertSame(core.enqueued[0], core.enqueued[1])
        assertSame(core.enqueued[1], core.enqueued[2])
    }

    /** Each has run on when the other comes to wait. */
    @Test
    fun coroutinesOfOnePlace_takeItFromEachOther() {
        val (one, other) = contextsOfOnePlace(Dispatchers.Unconfined)
        val gate = FakeCore()
        val rounds = suspend {
            waitUntilKept()
            repeat(2) {
                awaitGrant(core)
                awaitGrant(gate)
                waitsDone++
            }
        }
        rounds.startIn(one)
        core.grant(core.enqueued.last())
        rounds.startIn(other)
        core.grant(core.enqueued.last())

        repeat(2) { gate.grant(gate.enqueued[it]) }

        assertSame(core.enqueued[0], core.enqueued[2])
        assertSame(core.enqueued[1], core.enqueued[3])
        assertEquals(2, waitsDone)
    }

    /** The wait of another coroutine on this thread moves the waiter to its place, and one more takes that place. */
    @Test
    fun waiterThatLostItsPlaceToAnother_isNotUsedAgain() {
        val contexts = contextsOfOnePlace(Dispatchers.Unconfined, 3)
        val waitOnce = suspend { awaitGrant(core) }
        for (context in contexts) {
            waitOnce.startIn(context)
            // A waiter that has a reference is always moved to a place.
            (core.enqueued.last() as CoroutineWaiter).newReference()
            core.grant(core.enqueued.last())
        }

        for (context in contexts) waitOnce.startIn(context)

        assertNotSame(core.enqueued[0], core.enqueued[3])
        assertSame(core.enqueued[1], core.enqueued[4])
        assertSame(core.enqueued[2], core.enqueued[5])
    }

    @Test
    fun secondWait_ofAnotherCoroutine_usesAnotherWaiter() {
        waitThrice(Dispatchers.Unconfined)
        repeat(3) { core.grant(core.enqueued.last()) }

        waitThrice(Dispatchers.Unconfined)

        assertNotSame(core.enqueued[2], core.enqueued[3])
    }

    /** The second wait begins while the first, which has just ended, has its waiter in the cache. */
    @Test
    fun twoCoroutinesOfOneContext_eachWaitsWithItsOwn() {
        val context = Dispatchers.Unconfined + Job()
        val arrived = ArrayList<String>()

        suspend fun await(name: String) {
            awaitGrant(core, number = 1, request = null)
            arrived += name
        }
        val second = suspend { await("second") }
        val first = suspend {
            waitUntilKept()
            await("first")
            second.startIn(context)
            await("first again")
        }
        first.startIn(context)
        core.grant(core.enqueued.last())
        assertSame(core.enqueued[0], core.enqueued[1])
        assertNotSame(core.enqueued[1], core.enqueued[2])

        core.grant(core.enqueued[2])
        core.grant(core.enqueued[1])

        assertEquals(listOf("first", "first again", "second"), arrived)
    }

    @Test
    fun send_cancelledAfterItsElementWasTaken_nextWaitThrowsAndLeavesNoWaiter() {
        val dispatcher = HostileDispatcher(Hostility.RUNS_TWICE).apply { isHostile = false }
        val channel = Channel<String>()
        val mutex = Mutex(locked = true)
        val outcomes = ArrayList<Result<Unit>>()
        val job =
            CoroutineScope(dispatcher).launch {
                waitUntilKept()
                outcomes += runCatching { channel.send("x") }
                outcomes += runCatching { mutex.lock() }
            }
        dispatcher.run()
        assertEquals("x", channel.tryReceive().getOrNull())
        job.cancel()

        dispatcher.run()

        assertEquals(listOf(true, false), outcomes.map { it.isSuccess })
        assertTrue(outcomes.last().exceptionOrNull() is CancellationException)
        assertEquals(0, mutex.waiting)
    }

    @Test
    fun dispatch_throwsAfterTheNextWaitHasBegun_nextWaitGoesOn() {
        val dispatcher = RunsAndThrows()
        val job = waitThrice(dispatcher)
        dispatcher.throws = true
        core.grant(core.enqueued.last())
        dispatcher.throws = false
        assertEquals(1, waitsDone)
        assertEquals(2, core.enqueued.size)

        core.grant(core.enqueued.last())

        assertEquals(2, waitsDone)
        assertEquals(true, job.isActive)
    }

    @Test
    fun lateSecondRunOfABlock_duringTheNextWait_doesNotEndThatWait() {
        val dispatcher = HostileDispatcher(Hostility.RUNS_TWICE)
        dispatcher.isHostile = false
        waitThrice(dispatcher)
        dispatcher.run()
        dispatcher.isHostile = true
        core.grant(core.enqueued.last())
        dispatcher.step()
        assertSame(core.enqueued[0], core.enqueued[1])

        dispatcher.run()

        assertEquals(1, waitsDone)
        assertEquals(Waiter.WAITING, core.enqueued[1].currentState)
    }

    /** Two threads run one block, and both have taken its value when the first of them resumes the coroutine. */
    @Test
    fun secondRunOfABlock_atTheSameTime_doesNotEndTheNextWait() {
        waitThrice(Dispatchers.Unconfined)
        core.grant(core.enqueued.last())
        assertSame(core.enqueued[0], core.enqueued[1])

        (core.enqueued[1] as CoroutineWaiter).resumeWith(RESUMED)

        assertEquals(1, waitsDone)
        assertEquals(Waiter.WAITING, core.enqueued[1].currentState)
        core.grant(core.enqueued[1])
        assertEquals(2, waitsDone)
    }

    @Test
    fun invitedWaiter_isNotUsedAgain() {
        waitThrice(Dispatchers.Unconfined)
        core.enqueued[0].serveOnce()

        core.grant(core.enqueued.last())

        assertNotSame(core.enqueued[0], core.enqueued[1])
    }

    /** Acts as an executor that queues a task and cannot start another thread, after its threads have run the task. */
    private class RunsAndThrows : CoroutineDispatcher() {
        var throws = false

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            block.run()
            if (throws) throw OutOfMemoryError("unable to create native thread")
        }
    }

    private class ThreadForEach : CoroutineDispatcher() {
        val threads = ArrayList<Thread>()

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            threads += thread { block.run() }
        }

        fun join() = threads.last().join()
    }
}
