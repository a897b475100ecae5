package baton.waiting.keys

import baton.TooManyKeysException
import baton.asClock
import baton.waiting.clock.BoundClock
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReferenceArray
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.TestTimeSource
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class KeyTableTest {
    private class Thing(val name: Any) {
        @Volatile var idleAt = 0L
        val users = AtomicInteger()
    }

    private class Rule(val time: TestTimeSource) : IdleRule<Thing> {
        override val clock = BoundClock(time.asClock())
        override val needsLastUse = false
        var looks = 0
        var overflows = false

        override fun nanosUntilIdle(value: Thing, now: Long, lastUse: Long): Long {
            looks++
            if (overflows) throw StackOverflowError()
            return value.idleAt - now
        }
    }

    private val time = TestTimeSource()
    private val rule = Rule(time)

    private fun <K : Any> eager(maxKeys: Int = 10) = KeyTable<K, Thing>("Things", null, maxKeys, null, ::Thing)

    private fun <K : Any> lingering(maxKeys: Int = 10) = KeyTable<K, Thing>("Things", "own", maxKeys, rule, ::Thing)

    private fun <K : Any> KeyTable<K, Thing>.use(key: K, untilIdle: Long) =
        use(key) { it.apply { idleAt = rule.clock.read() + untilIdle } }

    @Test
    fun lease_ofOneKey_isOfOneObject_untilTheLastEnds() {
        val table = eager<String>()
        val first = table.lease("a")
        val second = table.lease("a")
        assertSame(first, second)
        first.end()
        assertSame(first, table.lease("a").also { it.end() })
        second.end()
        assertEquals(0, table.size)
        assertNotSame(first, table.lease("a"))
        assertEquals("a", first.toString())
    }

    @Test
    fun name_ofAKey_isReadWhenItIsAskedFor_andMayThrow() {
        class Key : Any() {
            override fun toString(): String = error("no text")
        }
        val entry = lingering<Key>().lease(Key())
        assertTrue(entry.toString().startsWith("own[baton.waiting.keys.")) { entry.toString() }
    }

    @Test
    fun eagerTable_thatIsFull_refusesUntilALeaseEnds() {
        val table = eager<Int>(maxKeys = 2)
        val leases = List(2) { table.lease(it) }
        assertThrows<TooManyKeysException> { table.lease(2) }
        table.lease(1).end()
        leases[0].end()
        table.lease(2)
        assertEquals(2, table.size)
    }

    @Test
    fun entry_inUseWhenItsTimeComes_isForgottenAfterItsLease() {
        val table = lingering<Int>(maxKeys = 1)
        val first = table.use(0, untilIdle = 5)
        time += 5.nanoseconds
        val lease = table.lease(0)
        assertThrows<TooManyKeysException> { table.lease(1) }
        lease.end()
        table.use(1, untilIdle = 5)
        assertNotSame(first, table.peek(1))
        assertEquals(1, table.size)
    }

    @Test
    fun fullTable_findsTheIdleEntry_behindOthersWhoseTimeIsStale() {
        val table = lingering<Int>(maxKeys = 100)
        repeat(100) { table.use(it, untilIdle = 10L + it) }
        repeat(100) { if (it != 77) table.use(it, untilIdle = 1_000) }
        time += 150.nanoseconds
        table.use(100, untilIdle = 1_000)
        assertEquals(null, table.peek(77))
        assertEquals(100, table.size)
        assertThrows<TooManyKeysException> { table.lease(1_000) }
        rule.looks = 0
        repeat(50) { assertThrows<TooManyKeysException> { table.lease(1_000) } }
        assertEquals(0, rule.looks, "a refusal looks at no entry whose time has not come")
    }

    @Test
    fun ruleThatThrows_isAskedAgainLater_andReplacesNoResult() {
        val table = lingering<Int>(maxKeys = 1)
        rule.overflows = true
        assertEquals("result", table.use(0) { "result" })
        time += 2.milliseconds
        assertThrows<TooManyKeysException> { table.lease(1) }
        rule.overflows = false
        assertThrows<TooManyKeysException> { table.lease(1) }
        time += 2.milliseconds
        table.lease(1).end()
        assertEquals(1, table.size)
    }

    @Test
    fun timeBeyondLong_isForever() {
        val table = lingering<Int>(maxKeys = 1)
        table.use(0) { it.idleAt = Long.MAX_VALUE }
        time += 1.nanoseconds
        table.use(0) { it.idleAt = Long.MAX_VALUE }
        assertThrows<TooManyKeysException> { table.lease(1) }
    }

    @Test
    fun objectsOfAKey_areNeverUsedTwoAtOnce_andPlacesAreExact() {
        for (table in listOf(eager<Int>(maxKeys = 3), lingering(maxKeys = 3))) {
            val live = AtomicReferenceArray<Thing?>(5)
            val faults = AtomicInteger()
            val made = AtomicInteger()
            val start = CyclicBarrier(THREADS)
            val threads =
                List(THREADS) { number ->
                    thread {
                        start.await()
                        repeat(ROUNDS) { round ->
                            val key = (round * 7 + number) % 5
                            val lease =
                                try {
                                    table.lease(key)
                                } catch (_: TooManyKeysException) {
                                    return@repeat
                                }
                            val thing = lease.value
                            if (thing.users.getAndIncrement() == 0) {
                                val former = live.getAndSet(key, thing)
                                if (former !== thing) made.incrementAndGet()
                                if (former != null && former !== thing && former.users.get() != 0)
                                    faults.incrementAndGet()
                            } else if (live.get(key) !== thing && live.get(key)?.users?.get() != 0) {
                                // Another thread is between its increment and its set.
                                Thread.yield()
                            }
                            if (table.size > 3) faults.incrementAndGet()
                            thing.users.decrementAndGet()
                            lease.end()
                        }
                    }
                }
            threads.forEach { it.join(120_000) }
            assertEquals(0, faults.get())
            assertTrue(made.get() > 5) { "only ${made.get()} objects" }
            // All places are free again: three keys find one, at a time.
            val last = List(3) { table.lease(it) }
            assertThrows<TooManyKeysException> { table.lease(3) }
            last.forEach { it.end() }
        }
    }

    private companion object {
        const val THREADS = 3
        const val ROUNDS = 20_000
    }
}
