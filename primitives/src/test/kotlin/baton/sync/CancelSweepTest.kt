package baton.sync

import baton.lincheck.world.ReadWriteMode.READ
import baton.lincheck.world.ReadWriteMode.UPGRADABLE
import baton.lincheck.world.ReadWriteMode.WRITE
import baton.sync.countdown.waitGroup
import baton.sync.readwrite.HeldReadWriteLock
import baton.sync.readwrite.assertFree
import baton.sync.readwrite.readWriteOps
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Cancels one of two operations before every single step that the two, and the holders they wait for, can make.
 * Afterwards everything must be as if the cancelled operation had never been called.
 */
class CancelSweepTest {
    /** A suspending [call] that returns how many permits it holds now. */
    internal class Op<P>(val name: String, val call: suspend (P) -> Int) {
        override fun toString() = name
    }

    private val semaphoreOps =
        listOf<Op<Semaphore>>(
            Op("acquire(1)") {
                it.acquire()
                1
            },
            Op("acquire(2)") {
                it.acquire(2)
                2
            },
            Op("acquire(3)") {
                it.acquire(3)
                3
            },
            Op("tryAcquire(1)") { if (it.tryAcquire()) 1 else 0 },
            Op("tryAcquire(1, 1s)") { if (it.tryAcquire(1, 1.seconds)) 1 else 0 },
            Op("tryAcquire(2, 1s)") { if (it.tryAcquire(2, 1.seconds)) 2 else 0 },
            Op("select acquire 1") { s -> select { s.onAcquire(1) { 1 } } },
            Op("select acquire 2 or timeout") { s ->
                select {
                    s.onAcquire(2) { 2 }
                    onTimeout(1.seconds) { 0 }
                }
            },
            Op("select acquire 1 twice") { s ->
                select {
                    s.onAcquire(3) { 3 }
                    s.onAcquire(1) { 1 }
                }
            },
            Op("select beside a channel that has something") { s ->
                val channel = Channel<Int>(1)
                channel.send(0)
                select {
                    s.onAcquire(3) { 3 }
                    channel.onReceive { it }
                }
            },
            Op("withPermit") { s ->
                s.withPermit { yield() }
                0
            },
            Op("withPermits(2)") { s ->
                s.withPermits(2) { yield() }
                0
            },
            Op("awaitIdle") {
                it.awaitIdle()
                0
            },
            Op("close") {
                it.close()
                0
            },
            Op("resize(1)") {
                it.resize(1)
                0
            },
            Op("resize(2)") {
                it.resize(2)
                0
            },
            Op("resize(5)") {
                it.resize(5)
                0
            },
        )

    private val mutexOps =
        listOf<Op<Mutex>>(
            Op("lock") {
                it.lock()
                1
            },
            Op("lock, unlock") {
                it.lock()
                it.unlock()
                0
            },
            Op("lock(owner), unlock(owner)") {
                Any().let { o ->
                    it.lock(o)
                    it.unlock(o)
                }
                0
            },
            Op("tryLock") { if (it.tryLock()) 1 else 0 },
            Op("tryLock(1s)") { if (it.tryLock(1.seconds)) 1 else 0 },
            Op("select lock") { m -> select { m.onLock(null) { 1 } } },
            Op("select lock or timeout") { m ->
                select {
                    m.onLock(null) { 1 }
                    onTimeout(1.seconds) { 0 }
                }
            },
            Op("select lock(owner)") { m ->
                Any().let { o ->
                    select {
                        m.onLock(o) {
                            it.unlock(o)
                            0
                        }
                    }
                }
            },
            Op("withLock") { m ->
                m.withLock { yield() }
                0
            },
            Op("withLock(owner)") { m ->
                m.withLock(Any()) { yield() }
                0
            },
        )

    private val latchOps =
        listOf<Op<Latch>>(
            Op("await") {
                it.await()
                0
            },
            Op("await(1s)") {
                it.await(1.seconds)
                0
            },
            Op("countDown") {
                it.countDown()
                0
            },
            Op("countDown, await") {
                it.countDown()
                it.await()
                0
            },
            Op("select await") { l -> select { l.onAwait { 0 } } },
            Op("select await twice or timeout") { l ->
                select {
                    l.onAwait { 0 }
                    l.onAwait { 0 }
                    onTimeout(1.seconds) { 0 }
                }
            },
            Op("select beside a channel that has something") { l ->
                val channel = Channel<Int>(1)
                channel.send(0)
                select {
                    l.onAwait { 0 }
                    channel.onReceive { it }
                }
            },
        )

    private val groupOps =
        listOf<Op<WaitGroup>>(
            Op("await") {
                it.await()
                0
            },
            Op("await(1s)") {
                it.await(1.seconds)
                0
            },
            Op("add") {
                it.add()
                1
            },
            Op("add(2)") {
                it.add(2)
                2
            },
            Op("add, done") { g ->
                g.add()
                try {
                    yield()
                } finally {
                    g.done()
                }
                0
            },
            Op("await, add, done") {
                it.await()
                it.add()
                it.done()
                0
            },
            Op("select await") { g -> select { g.onAwait { 0 } } },
            Op("select await or timeout") { g ->
                select {
                    g.onAwait { 0 }
                    onTimeout(1.seconds) { 0 }
                }
            },
        )

    /** [held] permits are held at first, and given back beside the two. */
    private class PermitSweep<P>(
        ops: List<Op<P>>,
        private val held: Int,
        private val create: () -> P,
        private val giveBack: (P) -> Unit,
        private val check: (P) -> Unit,
    ) : CancelSweep<P, Op<P>>(ops) {
        override val start = "$held held"

        override fun create(dispatcher: StepDispatcher) = create.invoke()

        override suspend fun call(op: Op<P>, world: P, caller: String) = op.call(world)

        override fun SweepRun<P>.beside() = repeat(held) { turn { giveBack(world) } }

        override fun SweepRun<P>.end(first: SweptCall, second: SweptCall) {
            // One call may hold the permits that the other waits for.
            val open = mutableListOf(first, second)
            while (true) {
                val done = open.firstOrNull { it.isCompleted } ?: break
                open -= done
                done.throwUnless { it is SemaphoreClosedException || it is IllegalArgumentException }
                repeat(done.held) {
                    giveBack(world)
                    drain()
                }
            }
            assertTrue(open.isEmpty(), "still waits: $open")
            check(world)
        }
    }

    private fun <P> sweep(
        ops: List<Op<P>>,
        held: Int,
        create: () -> P,
        giveBack: (P) -> Unit,
        check: (P) -> Unit,
    ): Int = PermitSweep(ops, held, create, giveBack, check).run()

    @Test
    fun semaphore_cancelledAtAnyStep_isAsIfNeverCalled() {
        var runs = 0
        for (order in WaitOrder.entries) {
            for (held in 0..3) {
                runs +=
                    sweep(semaphoreOps, held, { Semaphore(3, held, order) }, Semaphore::release) { semaphore ->
                        assertEquals(semaphore.permits, semaphore.availablePermits)
                        assertEquals(0, semaphore.waiting)
                        if (runCatching { semaphore.resize(semaphore.permits) }.isSuccess) {
                            assertTrue(semaphore.tryAcquire(semaphore.permits))
                            assertEquals(0, semaphore.availablePermits)
                            semaphore.release(semaphore.permits)
                        }
                        assertTrue(runCatching { semaphore.release() }.exceptionOrNull() is IllegalStateException)
                    }
            }
        }
        assertTrue(runs > 50_000, "only $runs runs")
    }

    @Test
    fun mutex_cancelledAtAnyStep_isAsIfNeverCalled() {
        var runs = 0
        for (held in 0..1) {
            runs +=
                sweep(mutexOps, held, { Mutex(locked = held == 1) }, { it.unlock() }) { mutex ->
                    assertEquals(false, mutex.isLocked)
                    assertEquals(0, mutex.waiting)
                    assertEquals(null, mutex.holder)
                    assertTrue(mutex.tryLock(this))
                    mutex.unlock(this)
                    assertTrue(mutex.tryLock())
                }
        }
        assertTrue(runs > 2_000, "only $runs runs")
    }

    @Test
    fun latch_cancelledAtAnyStep_isAsIfNeverCalled() {
        var runs = 0
        for (count in 0..2) {
            runs +=
                sweep(latchOps, count, { Latch(count) }, Latch::countDown) { latch ->
                    assertEquals(0, latch.count)
                    assertEquals(0, latch.waiting)
                }
        }
        assertTrue(runs > 1_000, "only $runs runs")
    }

    @Test
    fun waitGroup_cancelledAtAnyStep_isAsIfNeverCalled() {
        var runs = 0
        for (count in 0..2) {
            runs +=
                sweep(groupOps, count, { waitGroup(count) }, WaitGroup::done) { group ->
                    assertEquals(0, group.count)
                    assertEquals(0, group.waiting)
                }
        }
        assertTrue(runs > 1_000, "only $runs runs")
    }

    @Test
    fun readWriteLock_cancelledAtAnyStep_isAsIfNeverCalled() {
        var runs = 0
        val starts = listOf(listOf(WRITE), listOf(READ, UPGRADABLE), emptyList(), listOf(READ))
        for (policy in ReadWritePolicy.entries) {
            for (start in if (policy == ReadWritePolicy.PHASE_FAIR) starts else starts.take(2)) {
                val create = { HeldReadWriteLock(policy).apply { start.forEach(::start) } }
                runs += sweep(readWriteOps, start.size, create, { it.unlock() }) { assertFree(it.lock) }
            }
        }
        assertTrue(runs > 80_000, "only $runs runs")
    }
}
