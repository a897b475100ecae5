package baton

import java.lang.ref.WeakReference
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTimeoutPreemptively
import org.junit.jupiter.api.Test

class PriorityControllerTest {
    private val controller = PriorityController(Priority.LOW)

    @Test
    fun follow_byManyAtOnceAndTwice_eachIsToldOnce() {
        val told = List(64) { AtomicInteger() }
        val followers = told.map { count -> PriorityController.Follower { count.incrementAndGet() } }
        val start = CyclicBarrier(4)
        val threads =
            List(4) { number ->
                thread {
                    start.await()
                    // Every follower comes from two of the threads.
                    for (i in followers.indices) if (i % 2 == number % 2) controller.follow(followers[i])
                }
            }
        threads.forEach { it.join() }
        controller.level = Priority.HIGH
        assertEquals(List(64) { 1 }, told.map { it.get() })
    }

    @Test
    fun level_setToItsValue_callsNoFollower() {
        var told = 0
        val follower = PriorityController.Follower { told++ }
        controller.follow(follower)
        controller.level = Priority.LOW
        assertEquals(0, told)
    }

    @Test
    fun follower_withoutOtherReferences_isNotKeptAlive() {
        val follower = WeakReference(followed())
        assertTimeoutPreemptively(java.time.Duration.ofSeconds(120)) { while (follower.get() != null) System.gc() }
        assertNull(follower.get())
        controller.level = Priority.HIGH
    }

    /** In a frame of its own, which keeps nothing when it is gone. */
    private fun followed(): PriorityController.Follower {
        val count = AtomicInteger()
        return PriorityController.Follower { count.incrementAndGet() }.also(controller::follow)
    }
}
