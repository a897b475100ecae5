package baton.sync.readwrite.contract

import baton.sync.ReadWritePolicy.PHASE_FAIR
import baton.sync.ReadWritePolicy.READER_FIRST
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A waiter that is cancelled and held back others: they are admitted at once. The rest: the WaiterContract. */
interface ReadWriteCancellation : ReadWriteFixture {
    /** rustfs #2795. */
    @Test
    fun cancel_onlyWriterThatWaits_letsInTheReadersItHeldBack() = eachPolicy { policy ->
        if (policy == READER_FIRST) return@eachPolicy
        come("r1", "w1", "r2", "r3", "u1")
        assert("r1", readers = 1, waiting = 4)
        cancel("w1")
        assertState(readers = 4)
        scope.testScheduler.runCurrent()
        assertEquals(setOf("r1", "r2", "r3", "u1"), callers.served.toSet())
        assertTrue(lock.tryLockRead())
    }

    @Test
    fun cancel_oneWriterOfTwo_readersWaitForTheOther() {
        for ((first, second) in listOf("w1" to "w2", "w2" to "w1")) {
            scene(PHASE_FAIR) {
                come("r1", "w1", "w2", "r2")
                cancel(first)
                assert("r1", readers = 1, waiting = 2)
                cancel(second)
                assert("r1 r2", readers = 2)
            }
        }
    }

    @Test
    fun cancel_writerBehindAnUpgradableOne_letsReadersIn() =
        scene(PHASE_FAIR) {
            come("u1", "u2", "w1", "r1")
            cancel("w1")
            assert("u1 r1", readers = 2, waiting = 1)
        }

    @Test
    fun cancel_upgradableOneBeforeAWriter_writerComesInWhenItCan() =
        scene(PHASE_FAIR) {
            come("u1", "u2", "w1")
            cancel("u2")
            assert("u1", readers = 1, waiting = 1)
            leave("u1")
            assert("u1 w1", written = true)
        }

    @Test
    fun cancel_handedOverButNotRunYet_passesItOn() {
        for (granted in listOf("r1", "w1", "u1")) {
            for (next in listOf("r2", "w2", "u2")) {
                eachPolicy {
                    come("w0", granted, next)
                    leave("w0")
                    cancel(granted)
                    assert("w0 $next", readers = if (next == "w2") 0 else 1, written = next == "w2")
                    assertTrue(get(granted).isCancelled)
                    leave(next)
                    assertFree(lock)
                }
            }
        }
    }

    @Test
    fun cancel_someOrAllOfACrowdLetIn_theOthersReadAndTheWriterWaitsForThemOnly() {
        for (left in listOf(listOf("r2", "r4"), emptyList())) {
            scene(PHASE_FAIR) {
                come("w0", "r1", "r2", "r3", "r4", "r5", "w1")
                leave("w0")
                for (name in listOf("r1", "r2", "r3", "r4", "r5") - left.toSet()) cancel(name)
                scope.testScheduler.runCurrent()
                assertState(readers = left.size, written = left.isEmpty(), waiting = if (left.isEmpty()) 0 else 1)
                for (name in left) {
                    assertTrue(get("w1").isWaiting)
                    leave(name)
                }
                assert((listOf("w0") + left + "w1").joinToString(" "), written = true)
            }
        }
    }

    @Test
    fun cancel_byAReaderOfTheSameCrowd_theCancelledOneIsNotIn() =
        scene(PHASE_FAIR) {
            come("w0")
            callers.call("a") {
                lock.lockRead()
                cancel("r1")
            }
            come("r1", "r2")
            leave("w0")
            assert("w0 a r2", readers = 2)
        }
}
