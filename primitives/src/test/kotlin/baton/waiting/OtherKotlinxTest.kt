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
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/**
 * When kotlinx.coroutines lacks a part of its internal API, the code that needs the part refuses, and other code works.
 */
class OtherKotlinxTest {
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

    private class Tasks : Callable<String> {
        override fun call(): String = runBlocking {
            val refusals = List(2) { messageOf { cancellableTask {} } }
            "${refusals.toSet().single()}; children = ${coroutineContext.job.children.count()}"
        }
    }

    /** A class of kotlinx.coroutines without one of its members, and the effect on the program [user]. */
    enum class Lack(
        val type: String,
        val member: String,
        val user: Class<out Callable<String>>,
        val refused: String,
        val lack: String,
        val rest: String,
    ) {
        SELECT_MEMBER(
            "selects.SelectInstance",
            "trySelect",
            Selects::class.java,
            "clauses of select",
            "selects.SelectInstance.trySelect(Object, Object)",
            "waiting = 0, isLocked = true, isLate = true",
        ),
        SELECT_METHOD_WITHOUT_BODY(
            "selects.SelectClause",
            "getRegFunc",
            Selects::class.java,
            "clauses of select",
            "a body for getRegFun_()",
            "waiting = 0, isLocked = true, isLate = true",
        ),
        DELAY_MEMBER(
            "Delay",
            "invokeOnTimeout",
            Timed::class.java,
            "timed waits of coroutines",
            "Delay.invokeOnTimeout(long, Runnable, CoroutineContext)",
            "waiting = 0, free = false",
        ),
        JOB_MEMBER(
            "Job",
            "getCancellationException",
            Waits::class.java,
            "waits of coroutines",
            "Job.getCancellationException()",
            "waiting = 0, true, true",
        ),
        HANDLER_MEMBER(
            "CoroutineExceptionHandlerKt",
            "handleCoroutineException",
            Tasks::class.java,
            "tasks",
            "CoroutineExceptionHandlerKt.handleCoroutineException(CoroutineContext, Throwable)",
            "children = 0",
        ),
    }

    @ParameterizedTest
    @EnumSource
    fun partOfKotlinx_isMissing_itsUsersRefuseAndOthersGoOn(case: Lack) {
        val version = System.getProperty("kotlinx.probe.version")
        assertEquals(
            "${case.refused} do not work with kotlinx.coroutines $version, which lacks ${case.lack}. Use 1.8.1 to 1.11.0 " +
                "with the kotlin-stdlib that it asks for; with Spring Boot, set the Maven properties " +
                "kotlin-coroutines.version and kotlin.version; ${case.rest}",
            OtherKotlinx(case.type, case.member).call(case.user),
        )
    }
}

/** The message of the exception with which [call] refuses. */
suspend fun messageOf(call: suspend () -> Unit): String? =
    try {
        call()
        "none"
    } catch (e: IllegalStateException) {
        e.message
    }
