package baton.waiting.holders

import baton.Priority.CRITICAL
import baton.Priority.LOW
import baton.monitoring.KnownLocks
import baton.sync.ReadWriteLock
import baton.sync.core.LockMode
import baton.sync.withRead
import baton.waiting.FakeWaiter
import baton.waiting.Waiter
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.selects.select
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** A reader gives its lock back after its batch was admitted, and before it is woken: no hold of it stays recorded. */
internal class ReaderBatchDeadlockTest : KnownLocks() {
    enum class Moment {
        /** A reader of the batch that came before it is boosted. */
        BOOST,

        /** A reader of the batch that came before it goes on. */
        WAKING,
    }

    private val boosted = Boosted()
    private val dispatcher = boosted.dispatcher
    private val lock = ReadWriteLock()
    private val first = Any()

    private val recorded
        get() = LockLook(lock.core).holds.map { it.caller.owner }

    @AfterEach
    fun end() {
        boosted.close()
    }

    /** Admits a batch of two. The second one, which [wait]s, gives its lock back by [leave] at the [moment]. */
    private fun assertForgotten(moment: Moment, wait: () -> Unit, leave: () -> Unit) {
        var hasLeft = false
        val meanwhile = { leave().also { hasLeft = true } }
        assertTrue(lock.tryLockWrite())
        boosted.launch(LOW) {
            lock.lockRead(first)
            if (moment == Moment.WAKING) meanwhile()
        }
        wait()
        boosted.launch(CRITICAL) { lock.lockWrite() }
        if (moment == Moment.BOOST) dispatcher.meanwhile = meanwhile

        lock.unlockWrite()

        assertTrue(hasLeft)
        assertEquals(listOf(first), recorded)
        lock.unlockRead(first)
        assertTrue(lock.isWriteLocked)
        lock.unlockWrite()
        assertFalse(lock.core.hasKnownHolder())
        assertEquals("ReadWriteLock (free, waiting = 0)", "$lock")
    }

    @ParameterizedTest
    @EnumSource
    fun onRead_anotherClauseWins_isForgotten(moment: Moment) {
        val other = CompletableDeferred<Unit>()
        lateinit var job: Job
        assertForgotten(
            moment,
            wait = {
                job =
                    boosted.launch {
                        select {
                            lock.onRead { error("it lost") }
                            other.onAwait {}
                        }
                    }
            },
            leave = { other.complete(Unit) },
        )
        assertTrue(job.isCompleted && !job.isCancelled)
    }

    /** As a future that is cancelled, or a thread that wakes by itself: a granted one goes on, and unlocks. */
    private fun assertForgotten(moment: Moment, owner: Any?) {
        val waiter = FakeWaiter(lock.core, request = LockMode.READ.request(owner))
        assertForgotten(
            moment,
            wait = { lock.core.enqueue(waiter) },
            leave = { if (waiter.withdraw(Waiter.CANCELLED) == Waiter.GRANTED) lock.unlockRead(owner) },
        )
    }

    @ParameterizedTest
    @EnumSource
    fun callerWithoutCoroutine_goesOnBeforeItIsWoken_isForgotten(moment: Moment) = assertForgotten(moment, owner = null)

    @ParameterizedTest
    @EnumSource
    fun callerWithOwner_goesOnBeforeItIsWoken_isForgotten(moment: Moment) = assertForgotten(moment, owner = Any())

    private fun assertCancelledIsForgotten(moment: Moment, read: suspend () -> Unit) {
        lateinit var job: Job
        assertForgotten(moment, wait = { job = boosted.launch { read() } }, leave = { job.cancel() })
        assertTrue(job.isCompleted)
    }

    @ParameterizedTest
    @EnumSource
    fun lockRead_cancelled_isForgotten(moment: Moment) = assertCancelledIsForgotten(moment) { lock.lockRead() }

    @ParameterizedTest
    @EnumSource
    fun lockRead_withOwnerCancelled_isForgotten(moment: Moment) =
        assertCancelledIsForgotten(moment) { lock.lockRead(Any()) }

    @ParameterizedTest
    @EnumSource
    fun lockRead_withTheOwnerOfAnotherReaderCancelled_isForgotten(moment: Moment) =
        assertCancelledIsForgotten(moment) { lock.lockRead(first) }

    @ParameterizedTest
    @EnumSource
    fun withRead_cancelled_isForgotten(moment: Moment) =
        assertCancelledIsForgotten(moment) { lock.withRead { awaitCancellation() } }

    @ParameterizedTest
    @EnumSource
    fun withRead_withOwnerCancelled_isForgotten(moment: Moment) =
        assertCancelledIsForgotten(moment) { lock.withRead(Any()) { awaitCancellation() } }
}
