package baton.waiting

import baton.Priority
import baton.bridge.levelOf
import java.util.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class FifoWaitQueueTest {
    private val line = FifoWaitQueue()

    @Test
    fun waiter_takenOut_keepsNoNeighbourAlive() {
        val waiters = List(3) { FakeWaiter().also(line::add) }
        line.remove(waiters[1])
        assertNull(waiters[1].previous)
        assertNull(waiters[1].next)
        assertNull(waiters[1].queue)
        assertSame(waiters[2], waiters[0].next)
        assertSame(waiters[0], waiters[2].previous)
    }

    @Test
    fun forEach_mayRemoveTheOneItIsGiven() {
        val waiters = List(6) { FakeWaiter(number = it + 1).also(line::add) }
        line.forEach { if (it.number % 2 == 0) line.remove(it) }
        assertEquals(listOf(1, 3, 5), contents().map { it.number })
        line.forEach(line::remove)
        assertEquals(0, line.size)
        assertTrue(waiters.all { it.queue == null })
    }

    @Test
    fun line_behavesAsAList_whateverIsTakenOut() {
        val random = Random(42)
        val model = ArrayList<Waiter>()
        repeat(100_000) {
            if (model.isEmpty() || (model.size < 40 && random.nextInt(100) < 52)) {
                FakeWaiter().also(line::add).also(model::add)
            } else {
                line.remove(model.removeAt(random.nextInt(model.size)))
            }
            assertEquals(model.size, line.size)
            assertSame(model.firstOrNull(), line.head())
            if (it % 1_000 == 0) assertEquals(model, contents())
        }
    }

    private fun contents() = ArrayList<Waiter>().also { line.forEach(it::add) }
}

class PriorityWaitQueueTest {
    private val line = PriorityWaitQueue(::levelOf)
    private val bypass = BoundedBypass.BYPASS

    private fun levelOf(waiter: Waiter) = ((waiter.request as Priority?) ?: Priority.NORMAL).ordinal

    private fun add(level: Priority?) = FakeWaiter(request = level).also(line::add)

    /** Serves the head as a core does: dequeues it first, then counts it. */
    private fun serve(): Waiter {
        val head = line.head()!!
        line.remove(head)
        line.served(head)
        return head
    }

    private fun serveLevel() = (serve().request as Priority?) ?: Priority.NORMAL

    @Test
    fun mostUrgentLevel_goesFirst_andInsideALevelTheEarliest() {
        val low = add(Priority.LOW)
        val normal = add(Priority.NORMAL)
        val untagged = add(null)
        val critical = add(Priority.CRITICAL)
        val idle = add(Priority.IDLE)
        val high = add(Priority.HIGH)
        assertEquals(6, line.size)
        assertEquals(listOf(critical, high, normal, untagged, low, idle), List(6) { serve() })
        assertEquals(0, line.size)
    }

    @Test
    fun bounds_areThoseDocumented() {
        assertEquals(listOf(64, 128, 256, 512), bypass.drop(1))
    }

    @Test
    fun levelAlone_isPassedOverExactlyAsOftenAsItsBound() {
        for (level in Priority.entries.drop(1)) {
            val line = PriorityWaitQueue(::levelOf)
            val waiting = FakeWaiter(request = level).also(line::add)
            var passes = 0
            while (true) {
                line.add(FakeWaiter(request = Priority.CRITICAL))
                val head = line.head()!!
                if (head === waiting) break
                line.remove(head)
                line.served(head)
                passes++
            }
            assertEquals(bypass[level.ordinal], passes, "$level")
        }
    }

    @Test
    fun everyLevelFlooding_noneWaitsLongerThanItsBound() {
        val line = this.line
        val since = IntArray(Priority.entries.size)
        val longest = IntArray(since.size)
        val places = IntArray(since.size)
        for (level in Priority.entries) repeat(2) { add(level) }
        repeat(200_000) {
            val served = serveLevel()
            places[served.ordinal]++
            for (level in since.indices) {
                if (level == served.ordinal) since[level] = 0 else since[level]++
                longest[level] = maxOf(longest[level], since[level])
            }
            add(served)
        }
        for (level in Priority.entries.drop(1)) {
            val bound = bypass[level.ordinal]
            assertTrue(longest[level.ordinal] in bound - 3..bound, "$level waited ${longest[level.ordinal]} places")
        }
        assertTrue(places[0] >= 0.97 * 200_000, "CRITICAL got ${places[0]} of 200000 places")
        assertEquals(10, line.size)
    }

    @Test
    fun severalDueAtOnce_areInTimeOneAfterTheOther() {
        val line = PriorityWaitQueue(::levelOf)
        val passes = IntArray(5)
        // They come so that all have one pass left at the same time.
        val places = IntArray(5)
        for (place in 0 until 520) {
            for (level in Priority.entries) {
                if (place == 512 - bypass[level.ordinal].coerceAtMost(512)) line.add(FakeWaiter(request = level))
            }
            line.add(FakeWaiter(request = Priority.CRITICAL))
            val head = line.head()!!
            line.remove(head)
            line.served(head)
            val level = levelOf(head)
            if (level != 0) places[level] = place
            passes[level]++
        }
        assertEquals(listOf(1, 1, 1, 1), passes.drop(1))
        assertEquals(listOf(509, 510, 511, 512), places.drop(1).sorted())
    }

    @Test
    fun levelsThatCameTogether_areServedInTheOrderOfTheirBounds() {
        val rest = Priority.entries.drop(1).map(::add)
        val order = ArrayList<Waiter>()
        repeat(520) {
            add(Priority.CRITICAL)
            serve().let { if (it.request != Priority.CRITICAL) order += it }
        }
        assertEquals(rest, order)
    }

    @Test
    fun levelThatBecameEmpty_leavesNoPassesBehind() {
        val gone = add(Priority.HIGH)
        repeat(60) {
            add(Priority.CRITICAL)
            serve()
        }
        line.remove(gone)
        val waiting = add(Priority.HIGH)
        repeat(64) {
            add(Priority.CRITICAL)
            assertEquals(Priority.CRITICAL, serveLevel())
        }
        add(Priority.CRITICAL)
        assertSame(waiting, serve())
    }

    @Test
    fun oneCancelledInALevelOfTwo_keepsThePassesOfTheOther() {
        val first = add(Priority.HIGH)
        val second = add(Priority.HIGH)
        repeat(64) {
            add(Priority.CRITICAL)
            serve()
        }
        line.remove(first)
        add(Priority.CRITICAL)
        assertSame(second, serve())
    }

    @Test
    fun noWaiterIsLost_whateverIsAddedServedAndTakenOut() {
        val random = Random(7)
        val inside = LinkedHashSet<Waiter>()
        repeat(100_000) {
            when (random.nextInt(5)) {
                0,
                1 -> inside += add(Priority.entries[random.nextInt(5)])
                2,
                3 -> if (line.size > 0) assertTrue(inside.remove(serve()))
                else ->
                    inside.firstOrNull()?.let {
                        line.remove(it)
                        inside -= it
                    }
            }
            assertEquals(inside.size, line.size)
        }
        val found = HashSet<Waiter>()
        line.forEach(found::add)
        assertEquals(inside, found)
    }
}
