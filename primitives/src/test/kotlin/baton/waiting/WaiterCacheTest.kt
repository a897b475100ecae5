package baton.waiting

import baton.channels.Channel
import baton.hostile.HostileDispatcher
import baton.hostile.Hostility
import baton.sync.Mutex
import baton.waiting.coroutine.awaitGrant
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.intrinsics.createCoroutineUnintercepted
import kotlin.coroutines.resume
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
    /** Grants the requests that the test selects. */
    private class Core : WaitCore() {
        val waiters = ArrayList<Waiter>()

        override fun enqueue(waiter: Waiter): Int {
            waiters += waiter
            waiter.startWaiting()
            return Waiter.WAITING
        }

        fun grantLast() = grant(waiters.last())

        fun grant(waiter: Waiter) {
            check(waiter.tryGrant())
            wakeAll(waiter)
        }

        override fun withdraw(waiter: Waiter) = Unit

        override fun takeBack(waiter: Waiter) = Unit

        override fun failure(waiter: Waiter): Throwable = AssertionError("never fails")
    }

    private val core = Core()
    private var waitsDone = 0

    /** Where assertions are on, kotlinx reports the second run of a block. */
    private val complaints = CoroutineExceptionHandler { _, _ -> }

    private fun waitThrice(dispatcher: CoroutineDispatcher): Job =
        CoroutineScope(dispatcher + complaints).launch {
            repeat(3) {
                awaitGrant(core, number = 1, request = null)
                waitsDone++
            }
        }

    @Test
    fun secondWait_ofOneCoroutineOnOneThread_usesTheFirstWaiter() {
        waitThrice(Dispatchers.Unconfined)

        core.grantLast()

        assertSame(core.waiters[0], core.waiters[1])
    }

    @Test
    fun secondWait_ofAnotherCoroutine_usesAnotherWaiter() {
        waitThrice(Dispatchers.Unconfined)
        repeat(3) { core.grantLast() }

        waitThrice(Dispatchers.Unconfined)

        assertNotSame(core.waiters[2], core.waiters[3])
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
        val first =
            suspend {
                await("first")
                second.startIn(context)
                await("first again")
            }
        first.startIn(context)
        core.grantLast()
        assertSame(core.waiters[0], core.waiters[1])
        assertNotSame(core.waiters[1], core.waiters[2])

        core.grant(core.waiters[2])
        core.grant(core.waiters[1])

        assertEquals(listOf("first", "first again", "second"), arrived)
    }

    private fun (suspend () -> Unit).startIn(context: CoroutineContext) {
        createCoroutineUnintercepted(Continuation(context) { it.getOrThrow() }).resume(Unit)
    }

    @Test
    fun send_cancelledAfterItsElementWasTaken_nextWaitThrowsAndLeavesNoWaiter() {
        val dispatcher = HostileDispatcher(Hostility.RUNS_TWICE).apply { isHostile = false }
        val channel = Channel<String>()
        val mutex = Mutex(locked = true)
        val outcomes = ArrayList<Result<Unit>>()
        val job =
            CoroutineScope(dispatcher).launch {
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
        core.grantLast()
        dispatcher.throws = false
        assertEquals(1, waitsDone)
        assertEquals(2, core.waiters.size)

        core.grantLast()

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
        core.grantLast()
        dispatcher.step()
        assertSame(core.waiters[0], core.waiters[1])

        dispatcher.run()

        assertEquals(1, waitsDone)
        assertEquals(Waiter.WAITING, core.waiters[1].currentState)
    }

    @Test
    fun invitedWaiter_isNotUsedAgain() {
        waitThrice(Dispatchers.Unconfined)
        core.waiters[0].servesOnce = true

        core.grantLast()

        assertNotSame(core.waiters[0], core.waiters[1])
    }

    /** Acts as an executor that queues a task and cannot start another thread, after its threads have run the task. */
    private class RunsAndThrows : CoroutineDispatcher() {
        var throws = false

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            block.run()
            if (throws) throw OutOfMemoryError("unable to create native thread")
        }
    }
}
