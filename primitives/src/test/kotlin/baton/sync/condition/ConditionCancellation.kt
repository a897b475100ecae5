package baton.sync.condition

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A cancelled waiter leaves the queue as if it had never come; the signal it had got goes to the next. */
interface ConditionCancellation : ConditionFixture {
    @Test
    fun cancel_whileTheMutexIsHeld_isOutOfTheConditionAtOnce() = scene {
        come("cancelled", "next")
        hold {
            cancel("cancelled")
            assertEquals(1, waiting)
            signal()
        }
        assert("next")
        assertTrue(get("cancelled").isCancelled)
    }

    @Test
    fun cancel_signalledAndStillQueued_signalsGoToThoseBehindThem() {
        val all = listOf("a", "b", "c")
        for ((cancelled, served) in listOf(all.take(1) to "b c", all.drop(2) to "a b", all to "d e")) {
            scene {
                come("a", "b", "c", "d", "e", "f")
                hold {
                    repeat(2) { signal() }
                    for (name in cancelled) cancel(name)
                }
                assert(served, waiting = if (cancelled == all) 1 else 3)
                assertTrue(cancelled.all { get(it).isCancelled })
            }
        }
    }

    /** As if the cancelled waiter had never come: then the signal would have found no waiter. */
    @Test
    fun cancel_signalled_wakesNoLaterWaiter() {
        for (all in listOf(false, true)) {
            scene {
                if (all) come("a", "cancelled", "b") else come("cancelled")
                val late =
                    callers.call("late") {
                        mutex.lock()
                        if (all) condition.signalAll() else condition.signal()
                        cancel("cancelled")
                        condition.await()
                    }
                assert(if (all) "a b" else "", waiting = 1)
                assertTrue(late.isWaiting && get("cancelled").isCancelled)
            }
        }
    }
}
