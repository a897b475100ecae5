package baton.waiting

import baton.channels.Channel
import baton.sync.Barrier
import baton.sync.BarrierCancellation
import baton.sync.Semaphore
import java.io.File
import java.util.concurrent.TimeUnit
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource

/** The exception of a wait that fails shows where the coroutine waited, on a stack that no longer holds its callers. */
class WaitingCallerTraceTest {
    /** One way to wait in vain: [waitInVain] suspends until [end], or until its own time is over. */
    class Case(private val name: String, val end: () -> Unit = {}, val waitInVain: suspend () -> Any?) {
        override fun toString() = name
    }

    @ParameterizedTest
    @MethodSource("cases")
    fun failure_afterAWait_showsTheWaitingCallers(case: Case) {
        val trace = failureOf(case).stackTraceToString()
        for (caller in CALLERS) assertTrue(caller in trace, "$caller is missing: $trace")
    }

    @Test
    fun failure_afterAWaitInASelect_showsTheWaitingCallersInDebugMode() {
        val semaphore = Semaphore(1, acquired = 1)
        val trace =
            failureOf(Case("select", semaphore::close) { select { semaphore.onAcquire {} } }).stackTraceToString()
        for (caller in CALLERS) assertTrue(caller in trace, "$caller is missing: $trace")
    }

    @Test
    fun failure_inAJvmWithoutAssertionsAndDebugMode_showsTheWaitingCallers() {
        val java = File(System.getProperty("java.home"), "bin/java").path
        val classpath = System.getProperty("java.class.path")
        val child =
            ProcessBuilder(java, "-da", "-Dkotlinx.coroutines.debug=off", "-cp", classpath, javaClass.name)
                .redirectErrorStream(true)
                .start()
        val output = String(child.inputStream.readAllBytes())
        assertTrue(child.waitFor(120, TimeUnit.SECONDS))
        assertEquals("${cases().size} cases, lacking: []", output.trim())
    }

    @Test
    fun failure_ofSeveralWaiters_isAnotherExceptionForEach() {
        val semaphore = Semaphore(1, acquired = 1)
        val channel = Channel<Int>()
        val barrier = Barrier(4)
        val failures = runBlocking {
            supervisorScope {
                val calls =
                    List(3) { listOf(suspend { semaphore.acquire() }, { channel.receive() }, { barrier.arrive() }) }
                val waiters =
                    calls.flatten().map { call ->
                        async(start = CoroutineStart.UNDISPATCHED) { runCatching { call() } }
                    }
                semaphore.close()
                channel.close()
                barrier.abort()
                waiters.map { it.await().exceptionOrNull()!! }
            }
        }
        for (failure in failures) failure.addSuppressed(RuntimeException("of one caller"))
        for (failure in failures) assertEquals(1, failure.suppressed.size, failure::stackTraceToString)
    }

    @Test
    fun failure_ofACoroutineThatWaitsDeepInARecursion_keepsATraceOfBoundedLength() {
        val semaphore = Semaphore(1, acquired = 1)
        val failure = failureOf(Case("deep", semaphore::close) { descend(5_000) { semaphore.acquire() } })
        assertTrue(failure.stackTrace.size in 1_000..3_000, "${failure.stackTrace.size} frames")
    }

    companion object {
        private val CALLERS = listOf("callerInside", "callerBetween", "callerOutside")

        @JvmStatic fun cases(): List<Case> = semaphores() + barriers() + channels() + scopes()

        private fun semaphores(): List<Case> {
            val semaphore = Semaphore(2, acquired = 2)
            val other = Semaphore(2, acquired = 2)
            return listOf(
                Case("acquire, resize", { other.resize(1) }) { other.acquire(2) },
                Case("acquire, close", semaphore::close) { semaphore.acquire() },
            ) +
                Semaphore(2, acquired = 2).let {
                    Case("tryAcquire, close", it::close) { it.tryAcquire(1, timeout = 5.minutes) }
                }
        }

        private fun barriers(): List<Case> = buildList {
            val barrier = Barrier(2)
            add(Case("arrive, abort", barrier::abort) { barrier.arrive() })
            val reset = Barrier(2)
            add(Case("arrive, reset", reset::reset) { reset.arrive(5.minutes) })
            add(Case("arrive, late") { Barrier(2, BarrierCancellation.BREAK).arrive(10.milliseconds) })
            val action = CompletableDeferred<Unit>()
            val acting = Barrier(1) { action.await() }
            add(
                Case("arrive, reset while it acts", { acting.reset().also { action.complete(Unit) } }) {
                    acting.arrive()
                }
            )
            val waiting = Barrier(2) {}
            add(Case("arrive with an action, abort", waiting::abort) { waiting.arrive() })
        }

        private fun channels(): List<Case> = buildList {
            fun add(name: String, call: suspend (Channel<Int>) -> Any?) {
                val channel = Channel<Int>()
                add(Case(name, { channel.close() }) { call(channel) })
            }
            add("receive") { it.receive() }
            add("receiveCatching") { it.receiveCatching().getOrThrow() }
            add("tryReceive") { it.tryReceive(5.minutes).getOrThrow() }
            add("send") { it.send(1) }
            add("trySend") { it.trySend(1, 5.minutes).getOrThrow() }
            val full = Channel<Int>(1).also { it.trySend(1) }
            add(Case("reserve", { full.close() }) { full.reserve() })
            val alsoFull = Channel<Int>(1).also { it.trySend(1) }
            add(Case("tryReserve", { alsoFull.close() }) { alsoFull.tryReserve(5.minutes) })
        }

        private fun scopes(): List<Case> = buildList {
            val scoped = Semaphore(1, acquired = 1)
            add(Case("in a scope", scoped::close) { coroutineScope { scoped.acquire() } })
            val moved = Semaphore(1, acquired = 1)
            add(Case("on no dispatcher", moved::close) { withContext(Dispatchers.Unconfined) { moved.acquire() } })
        }

        /** Each caller suspends once before it waits: so none of the outer ones is on the stack of the wait itself. */
        private fun failureOf(case: Case): Throwable = runBlocking {
            supervisorScope {
                val caller = async(start = CoroutineStart.UNDISPATCHED) { runCatching { callerOutside(case) } }
                repeat(10) { yield() }
                case.end()
                caller.await().exceptionOrNull()!!
            }
        }

        private suspend fun callerOutside(case: Case): Any? {
            yield()
            return callerBetween(case).also { noTailCall() }
        }

        private suspend fun callerBetween(case: Case): Any? {
            yield()
            return callerInside(case).also { noTailCall() }
        }

        private suspend fun callerInside(case: Case): Any? {
            yield()
            return case.waitInVain().also { noTailCall() }
        }

        private suspend fun descend(levels: Int, call: suspend () -> Any?): Any? {
            return (if (levels == 0) call() else descend(levels - 1, call)).also { noTailCall() }
        }

        private fun noTailCall() {}

        @JvmStatic
        fun main(args: Array<String>) {
            check(!Companion::class.java.desiredAssertionStatus()) { "assertions are on" }
            val lacking =
                cases().filter { case ->
                    val trace = failureOf(case).stackTraceToString()
                    CALLERS.any { it !in trace }
                }
            println("${cases().size} cases, lacking: $lacking")
        }
    }
}
