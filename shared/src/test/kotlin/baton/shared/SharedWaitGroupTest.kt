package baton.shared

import baton.shared.word.CountsWord
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

@Tag("jdk")
class SharedWaitGroupTest : TwoMembers() {
    private val mine: SharedWaitGroup
        get() = here.waitGroup("g")

    private val others: SharedWaitGroup
        get() = there.waitGroup("g")

    @Test
    fun await_whileWorkIsPending_waitsForTheLastDone() = runBlocking {
        mine.await()
        mine.add(2)
        others.add()
        val waiters = listOf(async { mine.await() }, async { others.await() }, async { others.await() })
        mine.done()
        others.done()
        delay(20)
        assertTrue(waiters.none { it.isCompleted })
        assertEquals(1, others.count)
        mine.done()
        withTimeout(2.minutes) { waiters.awaitAll() }
        assertEquals(0, mine.count)
    }

    /** One waiter of a process waits for the word on behalf of all, on its own dispatcher. */
    @ParameterizedTest
    @ValueSource(booleans = [false, true])
    fun await_dispatcherOfAnotherWaiterStopsOrBlocks_ends(stops: Boolean) = runBlocking {
        val thread = Executors.newSingleThreadScheduledExecutor()
        val gate = CountDownLatch(1)
        mine.add()
        val first = async(thread.asCoroutineDispatcher() + Job()) { mine.await() }
        delay(50)
        val others = List(3) { async(Dispatchers.Default) { mine.await() } }
        delay(50)
        if (stops) thread.shutdownNow() else thread.execute { gate.await(2, TimeUnit.MINUTES) }
        delay(50)
        mine.done()
        withTimeout(2.minutes) { others.awaitAll() }
        gate.countDown()
        if (stops) first.cancel() else withTimeout(2.minutes) { first.await() }
        thread.shutdown()
    }

    @Test
    fun done_ofAnotherMember_countsForTheOneThatAdded() = runBlocking {
        mine.add(3)
        others.add(1)
        repeat(3) { others.done() }
        assertEquals(1, mine.count)
        here.close()
        // The one that is left counted for the closed member.
        assertThrows<AbandonedException> { runBlocking { others.await() } }
        assertEquals(0, others.count)
    }

    @Test
    fun done_atZero_throwsAndChangesNothing() {
        val label = "SharedWaitGroup 'g' of ${path.toRealPath()}"
        val misuse = assertThrows<IllegalStateException> { mine.done() }
        assertEquals("done without add: the count of $label is zero", misuse.message)
        mine.add()
        others.done()
        assertThrows<IllegalStateException> { mine.done() }
        assertThrows<IllegalStateException> { others.done() }
        assertEquals(0, mine.count)
    }

    @ParameterizedTest
    @ValueSource(ints = [Int.MIN_VALUE, -1, 0])
    fun add_ofLessThanOne_throwsAndAddsNothing(n: Int) {
        val refusal = assertThrows<IllegalArgumentException> { mine.add(n) }
        assertEquals("n = $n, must be at least 1", refusal.message)
        assertEquals(0, others.count)
    }

    @ParameterizedTest
    @ValueSource(ints = [1, CountsWord.MAX_COUNT, Int.MAX_VALUE])
    fun add_beyondTheLargestCount_throwsAndAddsNothing(n: Int) {
        mine.add(CountsWord.MAX_COUNT - 1)
        others.add(1)
        val refusal = assertThrows<IllegalStateException> { others.add(n) }
        val state = "SharedWaitGroup 'g' of ${path.toRealPath()} (count = 1048575)"
        assertEquals("add of n = $n, the count would be above 1048575: $state", refusal.message)
        assertEquals(CountsWord.MAX_COUNT, mine.count)
    }

    @Test
    fun regionClose_withWork_failsTheWaitersOfOthersAndThenOneAwait() = runBlocking {
        mine.add(2)
        others.add(1)
        supervisorScope {
            val waiters = List(3) { async(Dispatchers.Default) { others.await() } }
            delay(50)
            here.close()
            for (waiter in waiters) {
                val loss =
                    assertThrows<AbandonedException> { runBlocking { withTimeout(2.minutes) { waiter.await() } } }
                assertTrue("SharedWaitGroup 'g'" in loss.message.orEmpty(), loss.message)
            }
        }
        assertEquals(1, others.count)
        others.done()
        others.await()
    }

    @Test
    fun regionClose_withWorkWhileNoCallerWaits_failsTheNextAwaitOnly() = runBlocking {
        mine.add(2)
        here.close()
        assertThrows<AbandonedException> { runBlocking { others.await(Duration.ZERO) } }
        assertTrue(others.await(Duration.ZERO))
        others.await()
    }

    @Test
    fun regionClose_whoseWorkIsDone_isNoLoss() = runBlocking {
        mine.add(2)
        repeat(2) { others.done() }
        here.close()
        others.await()
    }

    @Test
    fun regionClose_whileItsCallersWait_failsThem() = runBlocking {
        others.add()
        val group = mine
        supervisorScope {
            val waiters = List(3) { async(Dispatchers.Default) { group.await() } }
            delay(50)
            here.close()
            for (waiter in waiters) assertThrows<SharedRegionException> {
                runBlocking { withTimeout(2.minutes) { waiter.await() } }
            }
        }
        for (call in listOf({ group.add() }, { group.done() }, { group.count })) {
            assertThrows<SharedRegionException> { call() }
        }
        assertEquals(1, others.count)
    }

    @Test
    fun cancel_ofAnyWaiter_leavesTheOthersWaiting() = runBlocking {
        others.add()
        repeat(10) { round ->
            val waiters = List(4) { async { mine.await() } }
            delay(round.toLong())
            // The first one waits for the word on behalf of all.
            waiters.take(2).forEach { it.cancelAndJoin() }
            assertTrue(waiters.drop(2).none { it.isCompleted })
            others.done()
            withTimeout(2.minutes) { waiters.drop(2).awaitAll() }
            others.add()
        }
        assertEquals(1, mine.count)
    }

    @Test
    fun await_withATimeout_returnsWhetherTheCountWasZero() = runBlocking {
        others.add()
        for (timeout in listOf(30.milliseconds, Duration.ZERO, (-1).seconds, -Duration.INFINITE)) {
            assertFalse(mine.await(timeout))
        }
        others.done()
        for (timeout in listOf(30.seconds, Duration.ZERO, -Duration.INFINITE, Duration.INFINITE)) {
            assertTrue(mine.await(timeout))
        }
    }

    @Test
    fun storm_ofAddsAndDonesOfBothMembers_endsAtZero() = runBlocking {
        others.add()
        coroutineScope {
            val waiter = launch(Dispatchers.Default) { mine.await() }
            coroutineScope {
                repeat(8) { index ->
                    val (adder, doer) = if (index % 2 == 0) mine to others else others to mine
                    launch(Dispatchers.Default) {
                        repeat(2_000) {
                            adder.add(2)
                            doer.done()
                            adder.done()
                        }
                    }
                }
            }
            assertEquals(1, mine.count)
            assertFalse(waiter.isCompleted)
            mine.done()
            withTimeout(2.minutes) { waiter.join() }
        }
    }

    @Test
    fun toString_namesTheCountAndTheFile() {
        mine.add(3)
        assertEquals("SharedWaitGroup 'g' of ${path.toRealPath()} (count = 3)", "$others")
        assertEquals("g", others.name)
        assertThrows<SharedRegionException> { there.mutex("g") }
    }
}
