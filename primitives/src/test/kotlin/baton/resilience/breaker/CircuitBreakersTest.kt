package baton.resilience.breaker

import baton.Refusal
import baton.TooManyKeysException
import baton.reportingTo
import baton.resilience.BreakerState
import baton.resilience.CircuitBreakers
import baton.resilience.CircuitOpenException
import java.io.IOException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class CircuitBreakersTest {
    private val clock = TestTimeSource()
    private val breakers = CircuitBreakers<String>(config(clock), keepIdle = 10.minutes)

    private suspend fun <K : Any> CircuitBreakers<K>.succeed(key: K) = protect(key) {}

    private suspend fun <K : Any> CircuitBreakers<K>.failUntilOpen(key: K) {
        repeat(config.minimumCalls) { assertThrows<IOException> { protect(key) { throw IOException() } } }
        assertEquals(BreakerState.OPEN, state(key))
    }

    /** New keys and each sixteenth use look for idle ones. */
    private fun <K : Any> CircuitBreakers<K>.useOther(key: K, times: Int = 17) = repeat(times) { trip(key) }

    @Test
    fun keys_haveBreakersOfTheirOwn_thatAreNamedByThem() = runBlocking {
        breakers.failUntilOpen("example.org")
        assertEquals("value of example.com", breakers.protect("example.com") { "value of $it" })
        val refusal = assertThrows<CircuitOpenException> { breakers.protect("example.org") { error("called") } }
        assertEquals("CircuitBreaker 'example.org' is open, retry in 10s", refusal.message)
        assertEquals(2, breakers.size)
    }

    @Test
    fun registryWithAName_namesItBesideTheKey() = runBlocking {
        val named = CircuitBreakers<String>(config(clock), name = "hosts")
        named.trip("a")
        val refusal = assertThrows<CircuitOpenException> { named.protect("a") {} }
        assertEquals("CircuitBreaker 'hosts[a]' is forced open", refusal.message)
        assertEquals("CircuitBreakers 'hosts' (size = 1, maxKeys = 100000, keepIdle = 1h)", named.toString())
    }

    @Test
    fun breaker_unusedForKeepIdle_isForgotten() = runBlocking {
        breakers.succeed("idle")
        clock += 10.minutes - 1.nanoseconds
        breakers.useOther("other")
        assertEquals(2, breakers.size)
        clock += 1.nanoseconds
        breakers.useOther("other")
        assertEquals(1, breakers.size)
    }

    @Test
    fun failuresOfAForgottenBreaker_doNotCountLater() = runBlocking {
        assertThrows<IOException> { breakers.protect("a") { throw IOException() } }
        clock += 10.minutes
        breakers.useOther("other")
        assertThrows<IOException> { breakers.protect("a") { throw IOException() } }
        assertEquals(BreakerState.CLOSED, breakers.state("a"))
    }

    @Test
    fun calls_areUses_butLooksAreNot() = runBlocking {
        breakers.succeed("called")
        breakers.succeed("looked at")
        repeat(2) {
            clock += 6.minutes
            breakers.succeed("called")
            breakers.state("looked at")
        }
        breakers.useOther("other")
        assertEquals(2, breakers.size, "called and other")
    }

    @Test
    fun breaker_thatIsNotClosed_isKept() = runBlocking {
        breakers.trip("tripped")
        breakers.failUntilOpen("open")
        breakers.disable("disabled")
        repeat(20) {
            clock += 10.minutes
            breakers.useOther("other")
        }
        assertEquals(4, breakers.size)
        assertEquals(
            listOf(BreakerState.FORCED_OPEN, BreakerState.OPEN, BreakerState.DISABLED),
            listOf("tripped", "open", "disabled").map(breakers::state),
        )
        breakers.reset("tripped")
        clock += 10.minutes
        breakers.useOther("other")
        assertEquals(3, breakers.size, "open, disabled and other")
    }

    @Test
    fun openFor_refusesTheCallsOfItsKeyForTheTime_thenProbes() = runBlocking {
        breakers.openFor("busy", 1.minutes)
        val refusal = assertThrows<CircuitOpenException> { breakers.protect("busy") { error("called") } }
        assertEquals(1.minutes, refusal.retryIn)
        breakers.succeed("other")
        clock += 1.minutes
        breakers.succeed("busy")
        assertThrows<IllegalArgumentException> { breakers.openFor("new", Duration.ZERO) }
        assertEquals(2, breakers.size, "busy and other")
    }

    @Test
    fun reset_ofAKeyWithoutABreaker_makesNone() {
        breakers.reset("a")
        assertEquals(BreakerState.CLOSED, breakers.state("a"))
        assertEquals(0, breakers.size)
    }

    @Test
    fun breaker_withACallInside_isKept_andTheEndOfTheCallIsAUse() = runBlocking {
        val end = CompletableDeferred<Unit>()
        val busy =
            launch(Dispatchers.Unconfined, CoroutineStart.UNDISPATCHED) { breakers.protect("busy") { end.await() } }
        repeat(3) {
            clock += 10.minutes
            breakers.useOther("other")
            assertEquals(2, breakers.size)
        }
        end.complete(Unit)
        busy.join()
        clock += 10.minutes - 1.nanoseconds
        breakers.useOther("other")
        assertEquals(2, breakers.size)
        clock += 1.nanoseconds
        breakers.useOther("other")
        assertEquals(1, breakers.size)
    }

    @Test
    fun idleBreakers_howeverMany_areForgottenByTwoOnEachCall() = runBlocking {
        val many = CircuitBreakers<Int>(config(clock), keepIdle = 10.minutes)
        repeat(10_000) { many.succeed(it) }
        clock += 10.minutes
        many.useOther(-1, times = 5_000 + 16)
        assertEquals(1, many.size)
    }

    @Test
    fun fullRegistry_refusesANewKey_untilOneIsIdle() = runBlocking {
        val few = CircuitBreakers<Int>(config(clock), keepIdle = 10.minutes, maxKeys = 3)
        repeat(3) { few.succeed(it) }
        val refusal = assertThrows<TooManyKeysException> { few.protect(3) { error("called") } }
        assertTrue((refusal as Any) is Refusal)
        assertEquals("no place for another key, maxKeys = 3 are in use: CircuitBreakers", refusal.message)
        assertThrows<TooManyKeysException> { few.trip(3) }
        few.succeed(0)
        clock += 10.minutes - 1.nanoseconds
        few.succeed(1)
        assertThrows<TooManyKeysException> { few.succeed(3) }
        clock += 1.nanoseconds
        few.succeed(3)
        few.succeed(4)
        assertEquals(3, few.size)
        assertThrows<TooManyKeysException> { few.succeed(5) }
        few.succeed(1)
    }

    @Test
    fun openBreakers_areNeverGivenUpForANewKey() = runBlocking {
        val few = CircuitBreakers<Int>(config(clock), keepIdle = 10.minutes, maxKeys = 2)
        few.failUntilOpen(0)
        few.succeed(1)
        clock += 1_000.minutes
        few.succeed(2)
        assertEquals(BreakerState.OPEN, few.state(0))
        few.trip(2)
        clock += 1_000.minutes
        assertThrows<TooManyKeysException> { few.succeed(3) }
        few.reset(2)
        assertThrows<TooManyKeysException> { few.succeed(3) }
        clock += 10.minutes
        few.succeed(3)
    }

    @Test
    fun clockThatThrows_atTheEndOfACall_losesNeitherTheValueNorTheCount() {
        val clock = FailingClock()
        val failing = CircuitBreakers<String>(config(clock), keepIdle = 10.minutes)
        val reported = mutableListOf<Throwable>()
        reportingTo(reported) {
            val value = runBlocking { failing.protect("api") { "value".also { clock.fails = true } } }
            assertEquals("value", value)
        }
        assertTrue(reported.isNotEmpty() && reported.all { it.message == "no time" }) { "$reported" }
        clock.fails = false
        clock.nanos += 10.minutes.inWholeNanoseconds
        failing.useOther("other")
        assertEquals(1, failing.size, "no caller is inside")
    }

    @Test
    fun clockThatThrows_atTheFirstCallOfAKey_failsItAndTakesNoPlace() = runBlocking {
        val clock = FailingClock()
        val failing = CircuitBreakers<String>(config(clock), keepIdle = 10.minutes, maxKeys = 1)
        clock.fails = true
        assertThrows<IllegalStateException> { failing.succeed("a") }
        clock.fails = false
        assertEquals(0, failing.size)
        failing.succeed("b")
    }

    @Test
    fun keyWhoseHashCodeThrows_isReportedByOthers_andTakesNoPlace() = runBlocking {
        var fails = false
        val key =
            object {
                override fun hashCode(): Int = if (fails) error("no") else 1
            }
        val few = CircuitBreakers<Any>(config(clock), keepIdle = 10.minutes, maxKeys = 2)
        few.succeed(key)
        clock += 10.minutes
        fails = true
        val reported = mutableListOf<Throwable>()
        reportingTo(reported) { runBlocking { few.succeed("other") } }
        assertEquals(listOf<String?>("no"), reported.map { it.message })
        few.succeed("another")
        fails = false
        clock += 10.minutes
        few.succeed(key)
        few.useOther("other")
        assertEquals(2, few.size)
    }

    @Test
    fun nestedProtect_ofTheSameKey_countsBoth() = runBlocking {
        val own = CircuitBreakers<String>(config(clock))
        assertThrows<IOException> { own.protect("a") { own.protect("a") { throw IOException() } } }
        assertEquals(BreakerState.OPEN, own.state("a"))
    }

    @Test
    fun block_thatReturnsFromTheFunctionAround_endsTheUse() = runBlocking {
        suspend fun early(): Boolean {
            breakers.protect("a") {
                return true
            }
        }
        assertTrue(early())
        clock += 10.minutes
        breakers.useOther("other")
        assertFalse(breakers.size > 1)
    }
}
