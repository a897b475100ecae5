package guide.tasks

import baton.resilience.BreakerState.CLOSED
import baton.resilience.BreakerState.HALF_OPEN
import baton.resilience.BreakerState.OPEN
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.delay
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** A breaker around a client: status 503 is a failure, bad input is none, and it can be opened for maintenance. */
class GuardedClientTest {
    private class ValidationException : Exception()

    private class Response(val status: Int)

    private class GuardedClient(private val send: suspend () -> Response, log: (String) -> Unit) {
        private val breaker =
            CircuitBreaker(
                CircuitBreakerConfig(
                    minimumCalls = 4,
                    probes = 1,
                    ignoreIf = { it is ValidationException },
                    failureResult = { it is Response && it.status == 503 },
                ),
                name = "billing",
            )

        init {
            breaker.onChange { from, to -> log("$from -> $to") }
        }

        suspend fun call(): Response = breaker.protect { send() }

        fun maintenance() = breaker.openFor(1.minutes)
    }

    private val log = ArrayList<String>()
    private var answer: () -> Response = { Response(200) }
    private val client = GuardedClient({ answer() }, { log += it })

    @Test
    fun validationExceptions_doNotOpenIt_butStatus503Does() = runTest {
        answer = { throw ValidationException() }
        repeat(20) { assertThrows<ValidationException> { client.call() } }
        answer = { Response(503) }
        repeat(4) { assertEquals(503, client.call().status) }
        assertThrows<CircuitOpenException> { client.call() }
        assertEquals(listOf("$CLOSED -> $OPEN"), log)
    }

    @Test
    fun callers_duringMaintenance_areRefusedUntilItIsOver() = runTest {
        assertEquals(200, client.call().status)
        client.maintenance()
        val refusal = assertThrows<CircuitOpenException> { client.call() }
        assertEquals(1.minutes, refusal.retryIn)
        delay(1.minutes)
        assertEquals(200, client.call().status)
        assertEquals(listOf("$CLOSED -> $OPEN", "$OPEN -> $HALF_OPEN", "$HALF_OPEN -> $CLOSED"), log)
    }
}
