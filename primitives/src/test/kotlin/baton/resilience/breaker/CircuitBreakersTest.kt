package baton.resilience.breaker

import baton.reportingTo
import baton.resilience.BreakerState
import baton.resilience.CircuitBreakers
import java.util.concurrent.CyclicBarrier
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class CircuitBreakersTest {
    private val clock = TestTimeSource()
    private val breakers = CircuitBreakers<String>(config(clock), keepIdle = 10.minutes)

    private fun lookUpOthers() = repeat(200) { breakers["other"] }

    @Test
    fun key_hasOneBreaker_withItsName() {
        val breaker = breakers["example.org"]
        assertSame(breaker, breakers["example.org"])
        assertNotSame(breaker, breakers["example.com"])
        assertEquals("example.org" to 2, breaker.name to breakers.size)
        assertSame(breakers.config, breaker.config)
    }

    @Test
    fun breaker_unusedForKeepIdle_isForgotten() {
        val idle = breakers["idle"]
        clock += 10.minutes - 1.nanoseconds
        lookUpOthers()
        assertEquals(2, breakers.size)
        clock += 1.nanoseconds
        lookUpOthers()
        assertEquals(1, breakers.size)
        assertNotSame(idle, breakers["idle"])
    }

    @Test
    fun breaker_lookedUpAfterKeepIdle_isNew() {
        val idle = breakers["idle"]
        clock += 10.minutes
        assertNotSame(idle, breakers["idle"])
        assertEquals(1, breakers.size)
    }

    @Test
    fun lookUpsAndCalls_areUses() = runBlocking {
        val called = breakers["called"]
        val lookedUp = breakers["looked up"]
        repeat(5) {
            clock += 6.minutes
            called.succeed()
            assertSame(lookedUp, breakers["looked up"])
        }
        assertSame(called, breakers["called"])
    }

    @Test
    fun breaker_thatIsNotClosed_isKept() = runBlocking {
        val tripped = breakers["tripped"].also { it.trip() }
        val open = breakers["open"].also { it.failUntilOpen() }
        val disabled = breakers["disabled"].also { it.disable() }
        repeat(300) {
            clock += 1.minutes
            breakers["other"]
        }
        assertEquals(4, breakers.size)
        assertSame(tripped, breakers["tripped"])
        assertSame(open, breakers["open"])
        assertSame(disabled, breakers["disabled"])
        tripped.reset()
        clock += 10.minutes
        lookUpOthers()
        assertEquals(3, breakers.size, "open, disabled and other")
    }

    @Test
    fun breaker_withACallInside_isNotReplaced() {
        val busy = breakers["busy"]
        val call = busy.enter(busy.start())
        repeat(300) {
            clock += 10.minutes
            breakers["other"]
            assertSame(busy, breakers["busy"])
        }
        clock += 10.minutes
        busy.leave(call, busy.start())
        clock += 10.minutes - 1.nanoseconds
        lookUpOthers()
        assertEquals(2, breakers.size, "the end of the call was a use")
        clock += 1.nanoseconds
        lookUpOthers()
        assertEquals(1, breakers.size)
    }

    @Test
    fun refusedCalls_leaveNoCallInside() = runBlocking {
        val breaker = breakers["api"]
        breaker.trip()
        repeat(3) { breaker.refuse() }
        breaker.reset()
        clock += 10.minutes
        lookUpOthers()
        assertEquals(1, breakers.size)
    }

    @Test
    fun idleBreakers_howeverMany_areGoneAfterTwoHundredLookUps() {
        val many = CircuitBreakers<Int>(config(clock), keepIdle = 10.minutes)
        repeat(10_000) { many[it] }
        clock += 10.minutes
        repeat(200) { many[-1] }
        assertEquals(1, many.size)
    }

    @Test
    fun idleBreaker_amongManyThatAreUsed_isGoneAfterTwoHundredLookUps() = runBlocking {
        val many = CircuitBreakers<Int>(config(clock), keepIdle = 10.minutes)
        val used = List(5_000) { many[it] }
        many[-1]
        clock += 9.minutes
        for (breaker in used) breaker.succeed()
        clock += 1.minutes
        repeat(200) { many[it] }
        assertEquals(5_000, many.size)
    }

    @Test
    fun forgottenBreaker_thatIsUsedAgain_isPutBack() = runBlocking {
        val kept = breakers["api"]
        clock += 10.minutes
        lookUpOthers()
        assertEquals(1, breakers.size)
        kept.trip()
        assertSame(kept, breakers["api"])
        kept.reset()
        clock += 10.minutes
        lookUpOthers()
        assertEquals(1, breakers.size, "put back, it is forgotten again")
    }

    @Test
    fun forgottenBreaker_whoseKeyHasAnother_staysApart() = runBlocking {
        val kept = breakers["api"]
        clock += 10.minutes
        val other = breakers["api"]
        kept.failUntilOpen()
        assertEquals(BreakerState.CLOSED, other.state)
        assertSame(other, breakers["api"])
        kept.reset()
        kept.succeed()
    }

    /** Runs [onHash] once, the next time that the registry calls `hashCode`. */
    private class Key(private val name: String) {
        var onHash: (() -> Unit)? = null

        override fun hashCode(): Int {
            onHash?.let {
                onHash = null
                it()
            }
            return name.hashCode()
        }

        override fun equals(other: Any?) = other is Key && other.name == name

        override fun toString() = name
    }

    private val byKey = CircuitBreakers<Key>(config(clock), keepIdle = 10.minutes)
    private val key = Key("api")

    private fun lookUpOtherKeys() = repeat(200) { byKey[Key("other")] }

    @Test
    fun forgottenBreaker_putBackByTwoCallersAtOnce_countsBothInside() {
        val kept = byKey[key]
        clock += 10.minutes
        lookUpOtherKeys()
        assertEquals(1, byKey.size)
        lateinit var other: Any
        key.onHash = { other = kept.enter(kept.start()) }
        val call = kept.enter(kept.start())
        kept.leave(other, kept.start())
        clock += 10.minutes
        lookUpOtherKeys()
        assertSame(kept, byKey[Key("api")], "a call is inside")
        kept.leave(call, kept.start())
        clock += 10.minutes
        lookUpOtherKeys()
        assertEquals(1, byKey.size)
    }

    /** One of two callers has found it replaced, and does not count. Then the key has no breaker again. */
    @Test
    fun replacedBreaker_whoseSuccessorIsForgotten_staysApart() {
        val kept = byKey[key]
        clock += 10.minutes
        assertNotSame(kept, byKey[Key("api")])
        lateinit var uncounted: Any
        key.onHash = {
            uncounted = kept.enter(kept.start())
            clock += 10.minutes
            lookUpOtherKeys()
            assertEquals(1, byKey.size)
        }
        val call = kept.enter(kept.start())
        assertNotSame(kept, byKey[Key("api")])
        kept.leave(uncounted, kept.start())
        kept.leave(call, kept.start())
        assertEquals(2, byKey.size)
    }

    /**
     * Between the look at its uses and the step that forgets it. If the uses began anew when it was put back, they
     * would come to the same count. The look-up itself visits others, which are older.
     */
    @Test
    fun idleBreaker_forgottenPutBackAndTripped_whileALookUpForgetsIt_isKept() {
        repeat(1_000) { byKey[Key("older $it")] }
        clock += 1.nanoseconds
        val kept = byKey[key]
        clock += 10.minutes
        key.onHash = {
            lookUpOtherKeys()
            assertEquals(1, byKey.size)
            kept.trip()
        }
        assertSame(kept, byKey[Key("api")])
        assertEquals(BreakerState.FORCED_OPEN, byKey[Key("api")].state)
    }

    @Test
    fun clockThatThrows_atTheEndOfACall_losesNeitherTheValueNorTheCount() {
        val clock = FailingClock()
        val failing = CircuitBreakers<String>(config(clock), keepIdle = 10.minutes)
        val breaker = failing["api"]
        val reported = mutableListOf<Throwable>()
        reportingTo(reported) {
            val value = runBlocking { breaker.protect { "value".also { clock.fails = true } } }
            assertEquals("value", value)
        }
        assertEquals(listOf<String?>("no time"), reported.map { it.message })
        clock.fails = false
        assertEquals(1, breaker.metrics.calls)
        clock.nanos += 10.minutes.inWholeNanoseconds
        repeat(200) { failing["other"] }
        assertEquals(1, failing.size, "no caller is inside")
    }

    @Test
    fun uses_raceWithForgetting_neverTwoWithACallInside() {
        val racing = CircuitBreakers<Int>(config(clock), keepIdle = 1.seconds)
        val barrier = CyclicBarrier(3)
        val failures = AtomicInteger()
        val threads =
            List(2) { key ->
                thread {
                    repeat(2_000) {
                        barrier.await()
                        val breaker = racing[key]
                        val call = breaker.enter(breaker.start())
                        if (racing[key] !== breaker) failures.incrementAndGet()
                        breaker.leave(call, breaker.start())
                        barrier.await()
                    }
                }
            }
        repeat(2_000) {
            barrier.await()
            clock += 1.seconds
            repeat(3) { racing[2] }
            barrier.await()
        }
        threads.forEach { it.join() }
        assertEquals(0, failures.get())
        assertTrue(racing.size in 1..3)
    }

    @Test
    fun lookUp_hashCodeOfAnotherKeyThrows_idleBreakersAreForgottenLater() {
        var fails = false
        val key =
            object {
                override fun hashCode(): Int = if (fails) error("no") else 1
            }
        val breakers = CircuitBreakers<Any>(config(clock), keepIdle = 10.minutes)
        breakers[key]
        clock += 10.minutes
        fails = true
        assertThrows<IllegalStateException> { breakers["other"] }
        fails = false
        clock += 10.minutes
        repeat(200) { breakers["other"] }
        assertEquals(1, breakers.size)
    }
}
