package baton.monitoring

import baton.monitoring.core.DeadlockSearch
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.withLock
import baton.sync.withPermit
import baton.sync.withRead
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

internal class CoroutinesDeadlockTest : KnownLocks() {
    private val a = Mutex(name = "a")
    private val b = Mutex(name = "b")
    private val c = Mutex(name = "c")

    private fun TestScope.named(name: String, block: suspend () -> Unit): Job = launch(CoroutineName(name)) { block() }

    private fun TestScope.inOrder(name: String, first: Mutex, second: Mutex) =
        named(name) {
            first.withLock {
                yield()
                second.withLock {}
            }
        }

    @Test
    fun twoMutexesInOppositeOrder_afterASecond_areReported() = runTest {
        val left = inOrder("left", a, b)
        inOrder("right", b, a)
        runCurrent()
        assertEquals(emptyList<Deadlock>(), search.find())
        time += 999.milliseconds
        assertEquals(emptyList<Deadlock>(), search.find())
        time += 1.milliseconds
        val found = search.find().single()
        assertEquals(
            setOf(
                "coroutine 'left' > Mutex 'b' > coroutine 'right'",
                "coroutine 'right' > Mutex 'a' > coroutine 'left'",
            ),
            textOf(found),
        )
        for (edge in found.cycle) {
            val site = assertNotNull(edge.takenAt).let { edge.takenAt!! }
            assertTrue(site.stackTrace.any { it.methodName == "invokeSuspend" && "DeadlockTest" in it.className })
        }
        assertTrue(
            Regex(
                    "coroutine 'left' waits for Mutex 'b' \\(for .*\\), held by coroutine 'right' \\(for .*\\), taken at\n"
                )
                .containsMatchIn("$found")
        )
        left.cancel()
        runCurrent()
        assertEquals(emptyList<Deadlock>(), search.find())
    }

    @Test
    fun deadlockThatHasStoodForASecond_wasNotFoundByTheFirstLook() = runTest {
        val before = System.nanoTime()
        val left = inOrder("left", a, b)
        inOrder("right", b, a)
        runCurrent()
        val after = System.nanoTime()
        assertEquals(emptyList<Deadlock>(), firstLookAt(before + 999_999_999))
        assertEquals(2, firstLookAt(after + 1_000_000_000).single().cycle.size)
        left.cancel()
        runCurrent()
        assertEquals(emptyList<Deadlock>(), firstLookAt(after + 1_000_000_000))
    }

    private fun firstLookAt(nanos: Long) = DeadlockSearch({ nanos }, isClockOfNotes = true).find()

    @Test
    fun cycleThatDissolvedAndFormedAnew_standsFromTheSecondTime() = runTest {
        val left = inOrder("left", a, b)
        inOrder("right", b, a)
        runCurrent()
        search.find()
        time += 900.milliseconds
        left.cancel()
        runCurrent()
        val again = inOrder("left", a, b)
        inOrder("right", b, a)
        runCurrent()
        assertEquals(emptyList<Deadlock>(), search.find())
        time += 900.milliseconds
        assertEquals(emptyList<Deadlock>(), search.find())
        time += 100.milliseconds
        assertEquals(1, search.find().size)
        again.cancel()
    }

    @Test
    fun threeMutexesInARing_areOneCycle() = runTest {
        val first = inOrder("1", a, b)
        inOrder("2", b, c)
        inOrder("3", c, a)
        runCurrent()
        assertEquals(
            setOf(
                "coroutine '1' > Mutex 'b' > coroutine '2'",
                "coroutine '2' > Mutex 'c' > coroutine '3'",
                "coroutine '3' > Mutex 'a' > coroutine '1'",
            ),
            textOf(standing().single()),
        )
        first.cancel()
    }

    @Test
    fun upgradesOfTwoLocks_eachReadByTheOtherSide_areACycle() = runTest {
        val x = ReadWriteLock(name = "x")
        val y = ReadWriteLock(name = "y")
        suspend fun side(own: ReadWriteLock, other: ReadWriteLock) {
            own.lockUpgradable()
            yield()
            other.withRead {
                yield()
                own.upgrade()
            }
        }
        val left = named("left") { side(x, y) }
        val right = named("right") { side(y, x) }
        runCurrent()
        assertEquals(
            setOf(
                "coroutine 'left' > ReadWriteLock 'x' (upgrade) > coroutine 'right'",
                "coroutine 'right' > ReadWriteLock 'y' (upgrade) > coroutine 'left'",
            ),
            textOf(standing().single()),
        )
        left.cancel()
        right.cancel()
    }

    @Test
    fun childOfTheHolder_thatWaitsForItsParent_isNamed() = runTest {
        val parent =
            named("parent") { a.withLock { coroutineScope { launch(CoroutineName("child")) { a.withLock {} } } } }
        runCurrent()
        assertEquals(
            setOf("coroutine 'parent' through its child coroutine 'child' > Mutex 'a' > coroutine 'parent'"),
            textOf(standing().single()),
        )
        parent.cancel()
    }

    @Test
    fun parentAndChild_andAnotherCoroutine_areACycle() = runTest {
        val parent =
            named("parent") { a.withLock { coroutineScope { launch(CoroutineName("child")) { b.withLock {} } } } }
        val other = inOrder("other", b, a)
        runCurrent()
        assertEquals(
            setOf(
                "coroutine 'parent' through its child coroutine 'child' > Mutex 'b' > coroutine 'other'",
                "coroutine 'other' > Mutex 'a' > coroutine 'parent'",
            ),
            textOf(standing().single()),
        )
        parent.cancel()
        other.cancel()
    }

    @Test
    fun waitInScopedBlocks_countsForTheHolder_evenNonCancellable() = runTest {
        val left =
            named("left") {
                a.withLock {
                    yield()
                    withContext(NonCancellable) { withTimeout(10.seconds) { b.withLock {} } }
                }
            }
        inOrder("right", b, a)
        runCurrent()
        assertEquals(2, standing().single().cycle.size)
        left.cancel()
        testScheduler.advanceTimeBy(11.seconds)
    }

    @Test
    fun holdTakenInABlockThatHasEnded_isThatOfItsCaller() = runTest {
        val left =
            named("left") {
                withTimeout(5.seconds) { a.lock() }
                yield()
                b.withLock {}
                a.unlock()
            }
        val right = inOrder("right", b, a)
        runCurrent()
        assertEquals(2, standing().single().cycle.size)
        left.cancel()
        right.cancel()
    }

    @Test
    fun semaphoresOfOne_areNoted_andBiggerOnesAreNot() = runTest {
        fun sides(one: Semaphore, two: Semaphore) =
            List(2) { i ->
                named("$i") {
                    (if (i == 0) one else two).withPermit {
                        yield()
                        (if (i == 0) two else one).withPermit {}
                    }
                }
            }
        val small = sides(Semaphore(1, name = "p"), Semaphore(1, name = "q"))
        val big = sides(Semaphore(2, acquired = 1, name = "r"), Semaphore(2, acquired = 1, name = "s"))
        runCurrent()
        assertEquals(
            setOf("coroutine '0' > Semaphore 'q' > coroutine '1'", "coroutine '1' > Semaphore 'p' > coroutine '0'"),
            textOf(standing().single()),
        )
        (small + big).forEach { it.cancel() }
    }

    @Test
    fun lockTwice_isACycleOfOne() = runTest {
        val job = named("self") { a.withLock { a.withLock {} } }
        runCurrent()
        assertEquals(setOf("coroutine 'self' > Mutex 'a' > coroutine 'self'"), textOf(standing().single()))
        job.cancel()
    }

    @Test
    fun readerBehindTheWriterThatWaitsForIt_isACycle() = runTest {
        val lock = ReadWriteLock(name = "x")
        val reader =
            named("reader") {
                lock.withRead {
                    yield()
                    lock.withRead {}
                }
            }
        val writer = named("writer") { lock.lockWrite() }
        runCurrent()
        assertEquals(
            setOf("coroutine 'reader' > ReadWriteLock 'x' (lockRead) > coroutine 'reader'"),
            textOf(standing().single()),
        )
        reader.cancel()
        writer.cancel()
    }

    @Test
    fun lockGainedBySelect_isAHold_butASelectThatWaits_isNoWait() = runTest {
        val left =
            named("left") {
                select { a.onLock(null) {} }
                yield()
                b.withLock {}
            }
        val right = inOrder("right", b, a)
        runCurrent()
        assertEquals(2, standing().single().cycle.size)
        left.cancel()
        right.cancel()
        runCurrent()
        a.unlock()
        val selecting =
            List(2) { i ->
                named("$i") {
                    val mine = if (i == 0) a else b
                    val other = if (i == 0) b else a
                    mine.withLock {
                        yield()
                        select { other.onLock(null) { other.unlock() } }
                    }
                }
            }
        runCurrent()
        assertEquals(emptyList<Deadlock>(), standing())
        selecting.forEach { it.cancel() }
    }

    @Test
    fun timedLock_isAWaitAndAHold() = runTest {
        val sides =
            listOf(a to b, b to a).map { (first, second) ->
                named("timed") {
                    first.tryLock(1.seconds)
                    yield()
                    if (second.tryLock(1.seconds)) second.unlock()
                    first.unlock()
                }
            }
        runCurrent()
        assertEquals(2, standing().single().cycle.size)
        sides.forEach { it.join() }
        assertEquals(emptyList<Deadlock>(), search.find())
    }

    @Test
    fun ownersOfCallsWithoutACoroutine_areKnown() = runTest {
        val left = Any()
        val right = Any()
        assertTrue(a.tryLock(left))
        assertTrue(b.tryLock(right))
        val jobs = listOf(named("l") { b.lock(left) }, named("r") { a.lock(right) })
        runCurrent()
        assertEquals(
            setOf(
                "coroutine 'l' (owner $left) > Mutex 'b' > owner $right",
                "coroutine 'r' (owner $right) > Mutex 'a' > owner $left",
            ),
            textOf(standing().single()),
        )
        jobs.forEach { it.cancel() }
    }

    @Test
    fun conditionWaiter_thatIsSignalled_waitsForTheMutexAgain() = runTest {
        val ready = a.newCondition()
        val left = named("left") { b.withLock { a.withLock { ready.await() } } }
        runCurrent()
        assertEquals(emptyList<Deadlock>(), standing())
        val right =
            named("right") {
                a.withLock {
                    ready.signal()
                    b.withLock {}
                }
            }
        runCurrent()
        assertEquals(
            setOf(
                "coroutine 'left' > Mutex 'a' > coroutine 'right'",
                "coroutine 'right' > Mutex 'b' > coroutine 'left'",
            ),
            textOf(standing().single()),
        )
        left.cancel()
        right.cancel()
    }

    @Test
    fun aThousandCoroutinesInContention_haveNoCycle() = runTest {
        val locks = List(10) { Mutex(name = "$it") }
        val jobs =
            List(1000) { i ->
                launch(Dispatchers.Default) {
                    val low = i % 9
                    repeat(3) { locks[low].withLock { locks[low + 1].withLock { yield() } } }
                }
            }
        while (jobs.any { it.isActive }) {
            assertEquals(emptyList<Deadlock>(), search.find())
            time += 1.seconds
            yield()
        }
        assertEquals(emptyList<Deadlock>(), search.find())
    }

    @Test
    fun childrenOfAHolderThatDoesNotWaitForThem_areReportedUntilItUnlocks() = runTest {
        a.lock()
        val jobs = List(1000) { launch { a.withLock { yield() } } }
        runCurrent()
        // The holder is the parent of all that wait, and it does not wait for them.
        assertEquals(1, standing().single().cycle.size)
        a.unlock()
        jobs.forEach { it.join() }
        assertEquals(emptyList<Deadlock>(), standing())
    }
}
