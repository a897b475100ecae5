package baton.waiting

import baton.hostile.HostileDispatcher
import baton.hostile.Hostility
import baton.waiting.coroutine.awaitGrant
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Test

class WaiterCacheTest {
    /** Grants what the test tells it to. */
    private class Core : WaitCore() {
        val waiters = ArrayList<Waiter>()

        override fun enqueue(waiter: Waiter): Int {
            waiters += waiter
            waiter.startWaiting()
            return Waiter.WAITING
        }

        fun grantLast() {
            val waiter = waiters.last()
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
                awaitGrant(core, weight = 1, tag = null)
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
        core.grantLast()

        waitThrice(Dispatchers.Unconfined)

        assertNotSame(core.waiters[1], core.waiters[2])
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

    /** As an executor that has queued a task and cannot start another thread, whose threads have run the task by then. */
    private class RunsAndThrows : CoroutineDispatcher() {
        var throws = false

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            block.run()
            if (throws) throw OutOfMemoryError("unable to create native thread")
        }
    }
}
