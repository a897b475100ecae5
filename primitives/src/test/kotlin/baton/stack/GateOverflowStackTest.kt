package baton.stack

import baton.hostile.ShallowStack
import baton.sync.Latch
import baton.sync.WaitGroup
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.startCoroutineUninterceptedOrReturn
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.Dispatchers
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * A call of a latch or a wait group runs out of stack, at whatever depth. It is done as a whole or not at all: a count
 * of zero has let all waiters go.
 */
class GateOverflowStackTest {
    private fun <S : Subject> sweep(prepare: () -> S, operation: (S) -> Unit, check: (S) -> Unit) {
        assertTrue(ShallowStack.sweep(prepare, operation, SHIFTS, check) > 0)
    }

    /** Its waiters go on on a dispatcher: in place they would need the stack of the operation. */
    private abstract class Subject {
        private val ended = AtomicInteger()

        /** 1 when the operation has returned. A field, because a setter would need stack. */
        @JvmField var done = 0

        fun start(waiters: Int, wait: suspend () -> Unit) {
            val end = Continuation<Unit>(Dispatchers.Default) { ended.incrementAndGet() }
            repeat(waiters) { check(wait.startCoroutineUninterceptedOrReturn(end) === COROUTINE_SUSPENDED) }
        }

        fun awaitEnded(count: Int) {
            while (ended.get() < count) Thread.yield()
            assertEquals(count, ended.get())
        }
    }

    private class Latched(waiters: Int) : Subject() {
        val latch = Latch(1)

        init {
            start(waiters) { latch.await() }
        }
    }

    private class Grouped(waiters: Int) : Subject() {
        val group = WaitGroup().apply { add() }

        init {
            start(waiters) { group.await() }
        }
    }

    @Test
    fun latch_overflowOfTheLastCountDown_opensWithAnother() =
        sweep({ Latched(waiters = 2) }, { it.latch.countDown() }) {
            it.latch.countDown()
            assertEquals(0, it.latch.waiting)
            it.awaitEnded(2)
        }

    @Test
    fun waitGroup_overflowOfTheLastDone_letsAllGoWithAnother() =
        sweep({ Grouped(waiters = 2) }, { it.group.done() }) {
            if (it.group.count > 0) it.group.done()
            assertEquals(0, it.group.waiting)
            it.awaitEnded(2)
        }

    @Test
    fun latch_overflowWhileItQueues_letsTheOthersGo() =
        sweep(
            { Latched(waiters = 1) },
            {
                suspend { it.latch.await() }
                    .startCoroutine(Continuation(EmptyCoroutineContext) { result -> result.getOrThrow() })
                it.done = 1
            },
        ) {
            assertEquals(1 + it.done, it.latch.waiting)
            it.latch.countDown()
            it.awaitEnded(1)
        }

    private companion object {
        /** A subject has waiters. */
        const val SHIFTS = 4
    }
}
