package baton.tasks.flight

import baton.Priority
import baton.priority
import baton.tasks.SingleFlight
import java.io.IOException
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.ThreadContextElement
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

@OptIn(ExperimentalCoroutinesApi::class)
class SingleFlightTest {
    private val flight = SingleFlight<String, Int>("users")
    private var loads = 0

    private fun <T> TestScope.start(block: suspend () -> T): Deferred<T> =
        CoroutineScope(coroutineContext + SupervisorJob()).async(start = CoroutineStart.UNDISPATCHED) { block() }

    private suspend fun load(gate: CompletableDeferred<Int>): Int {
        loads++
        return gate.await()
    }

    @Test
    fun callersOfOneKey_shareARun_andItsResultIsNotKept() = runTest {
        val gate = CompletableDeferred<Int>()
        val callers = List(3) { start { flight.run("a") { load(gate) } } }
        val other = start { flight.run("b") { it.length } }
        assertEquals(1, other.await())
        assertEquals(1, flight.size)
        gate.complete(7)
        assertEquals(listOf(7, 7, 7), callers.map { it.await() })
        assertEquals(1, loads)
        assertEquals(0, flight.size)
        assertEquals(8, flight.run("a") { 8 })
    }

    @Test
    fun result_mayBeNull() = runTest {
        val nullable = SingleFlight<Int, String?>()
        val gate = CompletableDeferred<String?>()
        val callers = List(2) { start { nullable.run(1) { gate.await() } } }
        gate.complete(null)
        assertEquals(listOf(null, null), callers.map { it.await() })
    }

    // ---- cancellation

    @Test
    fun callerThatBegan_isCancelled_theOthersGetTheResult() = runTest {
        val gate = CompletableDeferred<Int>()
        val first = start { flight.run("a") { load(gate) } }
        val second = start { flight.run("a") { load(gate) } }
        first.cancelAndJoin()
        assertTrue(second.isActive)
        val third = start { flight.run("a") { load(gate) } }
        gate.complete(7)
        assertEquals(listOf(7, 7), listOf(second.await(), third.await()))
        assertEquals(1, loads)
    }

    @Test
    fun lastCallerToLeave_cancelsTheRun_andTheKeyIsFree() = runTest {
        var cancelled: CancellationException? = null
        val callers =
            List(2) {
                start {
                    flight.run("a") {
                        try {
                            awaitCancellation()
                        } catch (e: CancellationException) {
                            cancelled = e
                            withContext(NonCancellable) { delay(1.seconds) }
                            throw e
                        }
                    }
                }
            }
        callers[1].cancelAndJoin()
        assertNull(cancelled)
        callers[0].cancelAndJoin()
        runCurrent()
        assertEquals("the last caller of SingleFlight 'users[a]' has left", cancelled?.message)
        assertEquals(0, flight.size)
        assertEquals(8, flight.run("a") { 8 })
        assertEquals(0, currentTime)
    }

    @Test
    fun callerWithATimeout_leavesAlone() = runTest {
        val gate = CompletableDeferred<Int>()
        val patient = start { flight.run("a") { load(gate) } }
        assertNull(withTimeoutOrNull(1.seconds) { flight.run("a") { load(gate) } })
        gate.complete(7)
        assertEquals(7, patient.await())
    }

    @Test
    fun run_belongsToNoCaller_butHasTheContextOfTheFirst() = runTest {
        class Mdc(val text: String) : ThreadContextElement<String?>, AbstractCoroutineContextElement(Key) {
            override fun updateThreadContext(context: CoroutineContext): String? = mdc.get().also { mdc.set(text) }

            override fun restoreThreadContext(context: CoroutineContext, oldState: String?) = mdc.set(oldState)
        }
        val seen = mutableListOf<Any?>()
        lateinit var caller: Job
        val gate = CompletableDeferred<Int>()
        val first =
            launch(Mdc("first") + Priority.HIGH + CoroutineName("first")) {
                caller = coroutineContext.job
                flight.run("a") {
                    seen.addAll(listOf(mdc.get(), coroutineContext.priority, coroutineContext[CoroutineName]?.name))
                    assertFalse(caller.children.any { it === coroutineContext.job })
                    gate.await().also { seen += mdc.get() }
                }
            }
        runCurrent()
        val second = launch(Mdc("second")) { flight.run("a") { error("loaded twice") } }
        runCurrent()
        first.cancelAndJoin()
        gate.complete(7)
        second.join()
        assertEquals(listOf("first", Priority.HIGH, "first", "first"), seen)
        assertNull(mdc.get())
    }

    // ---- failures

    @Test
    fun failure_reachesAllCallers_andTheNextOneLoadsAnew() = runTest {
        for (failure in listOf(IOException("down"), AssertionError("broken"), StackOverflowError())) {
            val gate = CompletableDeferred<Int>()
            val callers = List(2) { start { runCatching { flight.run("a") { load(gate) } }.exceptionOrNull() } }
            gate.completeExceptionally(failure)
            for (caller in callers) assertEquals(failure.javaClass, caller.await()?.javaClass)
            val same = List(2) { start { runCatching { flight.run("b") { throw failure } }.exceptionOrNull() } }
            for (caller in same) assertSame(failure, caller.await())
            assertEquals(0, flight.size)
        }
        assertEquals(9, flight.run("a") { 9 })
    }

    /** All callers get one exception: what each added would stay. */
    @Test
    fun failureThatIsShared_keepsItsStackTrace() = runTest {
        val failure = IOException("down")
        val trace = failure.stackTrace.toList()
        val gate = CompletableDeferred<Unit>()
        suspend fun run(): Int =
            flight.run("a") {
                gate.await()
                throw failure
            }
        val callers = List(3) { start { runCatching { run() }.exceptionOrNull() } }
        runCurrent()
        gate.complete(Unit)
        for (caller in callers) assertSame(failure, caller.await())
        assertEquals(trace, failure.stackTrace.toList())
    }

    @Test
    fun cancellationOfTheRunItself_failsTheCallers_andDoesNotCancelThem() = runTest {
        val callers =
            List(2) { start { runCatching { flight.run("a") { withTimeout(1.seconds) { awaitCancellation() } } } } }
        for (caller in callers) {
            val failure = assertInstanceOf(IllegalStateException::class.java, caller.await().exceptionOrNull())
            assertFalse(failure is CancellationException)
            assertEquals("SingleFlight 'users[a]' was cancelled", failure.message)
            assertInstanceOf(TimeoutCancellationException::class.java, failure.cause)
        }
        val own = assertThrows<IllegalStateException> { flight.run("a") { throw CancellationException("mine") } }
        assertEquals("mine", own.cause?.message)
    }

    @Test
    fun dispatcherOfTheFirstCaller_shutDown_failsTheOthersInsteadOfHanging() = runBlocking {
        val executor = Executors.newSingleThreadExecutor()
        val started = CompletableDeferred<Unit>()
        val gate = CompletableDeferred<Int>()
        val scope = CoroutineScope(SupervisorJob())
        val first =
            scope.launch(executor.asCoroutineDispatcher()) {
                flight.run("a") {
                    started.complete(Unit)
                    gate.await()
                }
            }
        started.await()
        // The thread is free again once the load waits for the gate.
        executor.submit {}.get(120, TimeUnit.SECONDS)
        val second = async(start = CoroutineStart.UNDISPATCHED) { runCatching { flight.run("a") { 0 } } }
        executor.shutdownNow()
        gate.complete(7)
        val failure = withTimeout(120.seconds) { second.await() }.exceptionOrNull()
        assertInstanceOf(IllegalStateException::class.java, failure)
        first.cancelAndJoin()
        assertEquals(9, flight.run("a") { 9 })
    }

    // ---- nested runs

    @Test
    fun runOfAKey_insideItsOwnRun_isRefused_alsoThroughAnother() = runTest {
        val direct = assertThrows<IllegalStateException> { flight.run("a") { flight.run("a") { 1 } } }
        assertEquals("SingleFlight 'users[a]' inside itself, must not wait for itself", direct.message)
        assertThrows<IllegalStateException> { flight.run("a") { flight.run("b") { flight.run("a") { 1 } } } }
        assertThrows<IllegalStateException> {
            flight.run("a") { coroutineScope { async { flight.run("a") { 1 } }.await() } }
        }
        assertEquals(3, flight.run("a") { flight.run("b") { 1 } + SingleFlight<String, Int>().run("a") { 2 } })
        assertEquals(0, flight.size)
    }

    // ---- forget

    @Test
    fun forget_letsTheNextCallerBeginAnew_andTheOthersWaitOn() = runTest {
        val old = CompletableDeferred<Int>()
        val new = CompletableDeferred<Int>()
        val first = start { flight.run("a") { load(old) } }
        flight.forget("a")
        flight.forget("never seen")
        val second = start { flight.run("a") { load(new) } }
        val third = start { flight.run("a") { load(new) } }
        assertEquals(2, loads)
        new.complete(2)
        assertEquals(listOf(2, 2), listOf(second.await(), third.await()))
        assertTrue(first.isActive)
        // The end of the forgotten run does not end a later one.
        val gate = CompletableDeferred<Int>()
        val fourth = start { flight.run("a") { load(gate) } }
        old.complete(1)
        assertEquals(1, first.await())
        val fifth = start { flight.run("a") { load(gate) } }
        gate.complete(4)
        assertEquals(listOf(4, 4), listOf(fourth.await(), fifth.await()))
        assertEquals(3, loads)
        assertEquals(0, flight.size)
    }

    @Test
    fun forgottenRun_isCancelledByItsOwnLastCaller() = runTest {
        var isCancelled = false
        val first = start {
            flight.run("a") {
                try {
                    awaitCancellation()
                } finally {
                    isCancelled = true
                }
            }
        }
        flight.forget("a")
        val gate = CompletableDeferred<Int>()
        val second = start { flight.run("a") { load(gate) } }
        first.cancelAndJoin()
        runCurrent()
        assertTrue(isCancelled)
        gate.complete(5)
        assertEquals(5, second.await())
    }

    @Test
    fun texts_nameKeyAndState() = runTest {
        val gate = CompletableDeferred<Int>()
        val caller = start { flight.run("a") { load(gate) } }
        assertEquals("SingleFlight 'users' (size = 1)", flight.toString())
        assertEquals("SingleFlight 'users[a]' (running, waiting = 1)", flight.table.peek("a").toString())
        gate.complete(1)
        caller.await()
        assertNotSame("", SingleFlight<Int, Int>().toString())
    }

    private companion object {
        val mdc = ThreadLocal<String?>()

        object Key : CoroutineContext.Key<ThreadContextElement<String?>>
    }
}
