package baton.waiting

import baton.resilience.RateLimiter
import baton.resilience.per
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.tasks.cancellableTask
import java.util.concurrent.Callable
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.select
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Where kotlinx.coroutines lacks a part of its internal API, what needs that part refuses, and the rest goes on. */
class OtherKotlinxTest {
    private fun refusal(user: String, lack: String) =
        "$user do not work with kotlinx.coroutines ${System.getProperty("kotlinx.probe.version")}, which lacks $lack. " +
            "Use 1.8.1 to 1.11.0 with the kotlin-stdlib that it asks for; with Spring Boot, set the Maven properties " +
            "kotlin-coroutines.version and kotlin.version"

    private class Selects : Callable<String> {
        override fun call(): String = runBlocking {
            val mutex = Mutex(locked = true)
            val refusals = List(2) { messageOf { select<Unit> { mutex.onLock(null) {} } } }
            val waiter = launch(start = CoroutineStart.UNDISPATCHED) { mutex.lock() }
            mutex.unlock()
            waiter.join()
            val isLate = !mutex.tryLock(1.milliseconds)
            "${refusals.toSet().single()}; waiting = ${mutex.waiting}, isLocked = ${mutex.isLocked}, isLate = $isLate"
        }
    }

    private val rest = "; waiting = 0, isLocked = true, isLate = true"

    @Test
    fun member_ofSelectIsMissing_clausesRefuseAndLocksGoOn() {
        val lack = refusal("clauses of select", "selects.SelectInstance.trySelect(Object, Object)")
        assertEquals(lack + rest, OtherKotlinx("selects.SelectInstance", "trySelect").call(Selects::class.java))
    }

    @Test
    fun method_ofSelectIsNew_clausesRefuseAndLocksGoOn() {
        val lack = refusal("clauses of select", "a body for getRegFun_()")
        assertEquals(lack + rest, OtherKotlinx("selects.SelectClause", "getRegFunc").call(Selects::class.java))
    }

    private class Timed : Callable<String> {
        override fun call(): String = runBlocking {
            val semaphore = Semaphore(1, acquired = 1)
            val refusals = List(2) { messageOf { semaphore.tryAcquire(1, 1.milliseconds) } }
            val waiter = launch(start = CoroutineStart.UNDISPATCHED) { semaphore.acquire() }
            semaphore.release()
            waiter.join()
            "${refusals.toSet().single()}; waiting = ${semaphore.waiting}, free = ${semaphore.tryAcquire()}"
        }
    }

    @Test
    fun member_ofDelayIsMissing_timedWaitsRefuseAndOthersGoOn() {
        val lack = refusal("timed waits of coroutines", "Delay.invokeOnTimeout(long, Runnable, CoroutineContext)")
        assertEquals(
            "$lack; waiting = 0, free = false",
            OtherKotlinx("Delay", "invokeOnTimeout").call(Timed::class.java),
        )
    }

    private class Waits : Callable<String> {
        override fun call(): String = runBlocking {
            val semaphore = Semaphore(1, acquired = 1)
            val refusals = List(2) { messageOf { semaphore.acquire() } }
            val waiting = semaphore.waiting
            semaphore.release()
            val limiter = RateLimiter.tokenBucket(1 per 1.minutes)
            "${refusals.toSet().single()}; waiting = $waiting, ${semaphore.tryAcquire()}, ${limiter.tryAcquire()}"
        }
    }

    @Test
    fun member_ofJobIsMissing_waitsRefuseAndTriesGoOn() {
        val lack = refusal("waits of coroutines", "Job.getCancellationException()")
        assertEquals(
            "$lack; waiting = 0, true, true",
            OtherKotlinx("Job", "getCancellationException").call(Waits::class.java),
        )
    }

    private class Tasks : Callable<String> {
        override fun call(): String = runBlocking {
            val refusals = List(2) { messageOf { cancellableTask {} } }
            "${refusals.toSet().single()}; children = ${coroutineContext.job.children.count()}"
        }
    }

    @Test
    fun member_ofHandlersIsMissing_tasksRefuse() {
        val lack = refusal("tasks", "CoroutineExceptionHandlerKt.handleCoroutineException(CoroutineContext, Throwable)")
        val other = OtherKotlinx("CoroutineExceptionHandlerKt", "handleCoroutineException")
        assertEquals("$lack; children = 0", other.call(Tasks::class.java))
    }
}

/** Of the exception with which [call] refuses. */
suspend fun messageOf(call: suspend () -> Unit): String? =
    try {
        call()
        "none"
    } catch (e: IllegalStateException) {
        e.message
    }
