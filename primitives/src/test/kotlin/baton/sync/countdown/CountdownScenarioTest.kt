package baton.sync.countdown

import baton.memory.assertCollected
import baton.sync.Latch
import baton.sync.WaitGroup
import java.lang.ref.WeakReference
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Bugs that have been shipped elsewhere, as far as the contract does not cover them already. */
class CountdownScenarioTest {
    /** JDK-6332435, 8221168 (CountDownLatch): the limits of the count. */
    @Test
    fun countDown_fromTheGreatestCountAndPastZero_neverWraps() {
        val greatest = Latch(Int.MAX_VALUE)
        repeat(3) { greatest.countDown() }
        assertEquals(Int.MAX_VALUE - 3, greatest.count)
        val open = Latch(0)
        repeat(3) { open.countDown() }
        assertEquals(0, open.count)
    }

    /** Each released waiter uses the group again, on the stack of the `done` that released it. */
    @Test
    fun done_resumedCodeAddsAndIsDoneAgain_thoseBehindItAreLetInOnce() {
        val group = waitGroup(1)
        val served = mutableListOf<Int>()
        for (i in 0..2) {
            suspend {
                    group.await()
                    served += i
                    group.add()
                    group.done()
                }
                .startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
        }
        group.done()
        assertEquals(listOf(0, 1, 2), served)
        assertEquals(0, group.count)
    }

    /** kotlinx #2355: the last waiter was retained. In a batch it would be the first, the last, and all between. */
    @Test
    fun await_letIn_isNotRetainedByThePrimitiveNorByEachOther() {
        val latch = Latch(1)
        val group = waitGroup(1)
        val seen = List(6) { number -> waiter(latch, group, number) }
        latch.countDown()
        group.done()
        assertCollected(seen)
        assertEquals(0, latch.count + group.count)
    }

    /** In a function of its own: no local keeps anything. */
    private fun waiter(latch: Latch, group: WaitGroup, number: Int): WeakReference<Any> {
        val job =
            GlobalScope.launch(Dispatchers.Unconfined) {
                latch.await()
                group.await()
            }
        if (number % 3 == 2) job.cancel()
        return WeakReference(job)
    }
}
