package baton.stress

import baton.lincheck.world.ReadWriteMode
import baton.lincheck.world.ReadWriteMode.READ
import baton.lincheck.world.ReadWriteMode.UPGRADABLE
import baton.lincheck.world.ReadWriteMode.WRITE
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import baton.sync.Semaphore
import baton.sync.WaitOrder
import baton.sync.readwrite.assertFree
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.TestInstance
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource
import org.junit.jupiter.params.provider.MethodSource

/** Holders of semaphores, mutexes and locks, counted: never too many at a time, and in the end none is left. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
open class HoldersStressTest : Stress() {
    protected open val attempts
        get() = 10_000

    /** Attempts at one primitive, which a ledger checks. */
    abstract inner class Workload(private val name: String) {
        val granted = AtomicInteger()

        abstract val primitive: Any

        abstract suspend fun attempt()

        abstract fun assertAtRest()

        final override fun toString() = name
    }

    /** Counts the held permits, and checks that they are never more than [bound]. */
    inner class Permits(private val bound: Int, private val granted: AtomicInteger) {
        private val held = AtomicInteger()

        suspend fun use(n: Int, release: () -> Unit) {
            val now = held.addAndGet(n)
            check(now <= bound) { "$now held of $bound" }
            granted.incrementAndGet()
            try {
                yieldSometimes()
            } finally {
                check(held.addAndGet(-n) >= 0)
                release()
            }
        }
    }

    inner class SemaphoreWorkload(order: WaitOrder, permits: Int = 4, bound: Int = permits) :
        Workload("semaphore $order") {
        override val primitive = Semaphore(permits, order = order)
        private val ledger = Permits(bound, granted)

        override suspend fun attempt() {
            val n = 1 + random.nextInt(3)
            getSomehow(
                now = { primitive.tryAcquire(n) },
                timed = { primitive.tryAcquire(n, it) },
                wait = { if (n == 1) primitive.acquire() else primitive.acquire(n) },
                clause = { primitive.onAcquire(n) { true } },
                use = { ledger.use(n) { primitive.release(n) } },
            )
        }

        override fun assertAtRest() = assertAtRest(primitive)
    }

    inner class MutexWorkload : Workload("mutex") {
        override val primitive = Mutex()
        private val ledger = Permits(1, granted)

        override suspend fun attempt() {
            val owner = if (random.nextBoolean()) Any() else null
            getSomehow(
                now = { primitive.tryLock(owner) },
                timed = { primitive.tryLock(it, owner) },
                wait = { primitive.lock(owner) },
                clause = { primitive.onLock(owner) { true } },
                use = {
                    ledger.use(1) {
                        check(owner == null || primitive.holder === owner)
                        primitive.unlock(owner)
                    }
                },
            )
        }

        override fun assertAtRest() = assertEquals("0 false", "${primitive.waiting} ${primitive.isLocked}")
    }

    open inner class LockWorkload(policy: ReadWritePolicy, private val hasOwners: Boolean) :
        Workload("lock $policy" + if (hasOwners) " with owners" else "") {
        override val primitive = ReadWriteLock(policy)
        private val inside = AtomicLong()

        /** The current holders, in one number, and the check that they may hold the lock together. */
        private fun move(from: ReadWriteMode?, to: ReadWriteMode?) {
            granted.incrementAndGet()
            val now = inside.addAndGet(one(to) - one(from))
            val (readers, writers, upgradable) = List(3) { now shr it * BITS and MASK }
            check(writers <= 1 && upgradable <= 1 && (writers == 0L || readers + upgradable == 0L)) {
                "$readers read, $upgradable upgradably, and $writers write"
            }
        }

        private fun one(mode: ReadWriteMode?) = if (mode == null) 0 else 1L shl mode.ordinal * BITS

        override suspend fun attempt() {
            val owner = if (hasOwners && random.nextBoolean()) Any() else null
            if (random.nextInt(5) == 0) {
                val got = select {
                    primitive.onWrite { WRITE }
                    primitive.onRead { READ }
                    onTimeout(random.nextLong(2).milliseconds) { null }
                }
                if (got != null) use(got, null)
            } else {
                getInto(oneOf(READ, READ, WRITE, UPGRADABLE), owner)
            }
        }

        protected suspend fun getInto(mode: ReadWriteMode, owner: Any?) =
            when (mode) {
                READ ->
                    getSomehow(
                        { primitive.tryLockRead(owner) },
                        { primitive.tryLockRead(it, owner) },
                        { primitive.lockRead(owner) },
                        clause = null,
                    ) {
                        use(READ, owner)
                    }
                WRITE ->
                    getSomehow(
                        { primitive.tryLockWrite(owner) },
                        { primitive.tryLockWrite(it, owner) },
                        { primitive.lockWrite(owner) },
                        clause = null,
                    ) {
                        use(WRITE, owner)
                    }
                else ->
                    getSomehow(
                        { primitive.tryLockUpgradable(owner) },
                        { primitive.tryLockUpgradable(it, owner) },
                        { primitive.lockUpgradable(owner) },
                        clause = null,
                    ) {
                        use(UPGRADABLE, owner)
                    }
            }

        protected suspend fun use(mode: ReadWriteMode, owner: Any?) {
            move(null, mode)
            when (mode) {
                READ -> leaving({ leaveRead(owner) }) { yieldSometimes() }
                WRITE -> write(owner)
                else -> readUpgradably(owner)
            }
        }

        private inline fun leaving(leave: () -> Unit, stay: () -> Unit) =
            try {
                stay()
            } finally {
                leave()
            }

        private fun leaveRead(owner: Any?) {
            move(READ, null)
            primitive.unlockRead(owner)
        }

        private suspend fun write(owner: Any?) =
            leaving({ leaveWrite(owner) }) {
                if (owner != null) check(primitive.writeHolder === owner)
                yieldSometimes()
            }

        private fun leaveWrite(owner: Any?) {
            if (random.nextInt(3) > 0) {
                move(WRITE, null)
                primitive.unlockWrite(owner)
            } else {
                move(WRITE, READ)
                primitive.downgrade(owner)
                leaveRead(owner)
            }
        }

        private suspend fun readUpgradably(owner: Any?) {
            var upgraded = false
            try {
                yieldSometimes()
                upgraded =
                    when (random.nextInt(3)) {
                        0 -> primitive.tryUpgrade(owner)
                        1 -> primitive.tryUpgrade(soon(), owner)
                        else -> primitive.upgrade(owner).let { true }
                    }
            } finally {
                move(UPGRADABLE, if (upgraded) WRITE else null)
                if (!upgraded) primitive.unlockUpgradable(owner)
            }
            if (upgraded) write(owner)
        }

        override fun assertAtRest() = assertFree(primitive)
    }

    /** All holders have given an owner, and strangers try to unlock what they hold. */
    inner class StrangersWorkload(policy: ReadWritePolicy) : LockWorkload(policy, hasOwners = true) {
        private val unlocks = with(primitive) { listOf(::unlockRead, ::unlockWrite, ::unlockUpgradable, ::downgrade) }

        override suspend fun attempt() {
            val owner = Any()
            if (random.nextInt(4) > 0) {
                primitive.lockRead(owner)
                use(READ, owner)
                getInto(oneOf(READ, WRITE, UPGRADABLE), owner)
            } else {
                val stranger = owner.takeIf { random.nextBoolean() }
                assertThrows<IllegalStateException> { unlocks[random.nextInt(4)](stranger) }
            }
        }
    }

    fun workloads(): List<Workload> =
        WaitOrder.entries.map { SemaphoreWorkload(it) } +
            MutexWorkload() +
            ReadWritePolicy.entries.flatMap {
                listOf(LockWorkload(it, hasOwners = true), LockWorkload(it, hasOwners = false), StrangersWorkload(it))
            }

    @ParameterizedTest
    @MethodSource("workloads")
    fun holders_underCancellationTimeoutsAndSelects_areNeverTooManyAndInTheEndNone(workload: Workload) {
        val left = AtomicInteger(attempts)
        stress(workload, workload.primitive) {
            crowd(200, { left.get() > 0 }) {
                left.decrementAndGet()
                workload.attempt()
            }
        }
        assertTrue(workload.granted.get() > attempts / 20) { "only ${workload.granted} grants of $workload" }
        workload.assertAtRest()
    }

    @ParameterizedTest
    @EnumSource
    fun resize_racingWithEverything_leavesTheDebtExact(order: WaitOrder) {
        val workload = SemaphoreWorkload(order, permits = 6, bound = 8)
        val left = AtomicInteger(attempts / 3)
        stress(workload.primitive) {
            val others =
                crowd(50, { left.get() > 0 }) {
                    left.decrementAndGet()
                    workload.attempt()
                }
            while (others.any { it.isActive }) {
                workload.primitive.resize(3 + random.nextInt(6))
                yield()
            }
        }
        workload.assertAtRest()
        workload.primitive.resize(5)
        workload.assertAtRest()
    }

    private companion object {
        const val BITS = 20
        const val MASK = (1L shl BITS) - 1
    }
}

class HoldersStressDeepTest : HoldersStressTest() {
    override val attempts
        get() = 4_000_000
}

internal fun assertAtRest(semaphore: Semaphore) {
    assertEquals(0, semaphore.waiting)
    assertEquals(semaphore.permits, semaphore.availablePermits, "$semaphore")
    assertTrue(semaphore.tryAcquire(semaphore.permits))
    assertEquals(0, semaphore.availablePermits)
    semaphore.release(semaphore.permits)
}
