package baton.interop

import baton.PermitTimeoutException
import baton.Refusal
import baton.resilience.Backoff
import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import baton.resilience.Jitter
import baton.resilience.Rate
import baton.resilience.RateLimitedException
import baton.resilience.RateLimiter
import baton.resilience.RateLimiterClosedException
import baton.resilience.RetryPolicy
import baton.resilience.SlidingWindow
import baton.resilience.retry
import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import java.util.concurrent.CompletableFuture
import kotlin.reflect.KClass
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.toJavaDuration
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource

private const val ADMITTED = 4
private const val REFUSED = 20
private val NOW = Duration.ZERO.toJavaDuration()

/** A retry around a breaker around a limiter around a semaphore, in front of an upstream that works. */
private class Stack(retryIf: ((Throwable) -> Boolean)? = null) {
    val policy =
        if (retryIf == null) RetryPolicy(backoff = Backoff.constant(Duration.ZERO), jitter = Jitter.None)
        else RetryPolicy(backoff = Backoff.constant(Duration.ZERO), jitter = Jitter.None, retryIf = retryIf)

    /** Sees every refusal; [inner] refuses, too. */
    val breaker = CircuitBreaker(CircuitBreakerConfig(window = SlidingWindow.Calls(10), minimumCalls = 3), "outer")
    val inner = CircuitBreaker(name = "inner")
    val limiter = RateLimiter.tokenBucket(Rate(1, 100.days), burst = 100, maxWaiting = 0, name = "limiter")
    val semaphore = Semaphore(1, name = "pool")
    var attempts = 0
    var upstream = 0

    fun attempted() {
        attempts++
    }

    fun answer(): String {
        upstream++
        return "page"
    }
}

/** How a call goes through the stack. The limiter and the semaphore do not wait, unless the limiter is not [timed]. */
private enum class Face(val call: Stack.(timed: Boolean) -> String) {
    KOTLIN({ timed ->
        runBlocking {
            retry(policy) {
                attempted()
                breaker.protect {
                    inner.protect {
                        if (!timed) limiter.acquire()
                        else if (!limiter.tryAcquire(timeout = Duration.ZERO)) throw PermitTimeoutException("no turn")
                        if (!semaphore.tryAcquire(timeout = Duration.ZERO)) throw PermitTimeoutException("no permit")
                        try {
                            answer()
                        } finally {
                            semaphore.release()
                        }
                    }
                }
            }
        }
    }),
    FUTURES({ timed ->
        val limited = AsyncRateLimiter.of(limiter)
        AsyncRetry.of(policy)
            .call {
                attempted()
                AsyncCircuitBreaker.of(breaker).protect {
                    AsyncCircuitBreaker.of(inner).protect {
                        (if (timed) limited.acquire(NOW) else limited.acquire()).thenCompose {
                            AsyncSemaphore.of(semaphore)
                                .withPermit({ CompletableFuture.completedFuture(answer()) }, NOW)
                        }
                    }
                }
            }
            .valueOrThrow()
    }),
    BLOCKING({ timed ->
        val limited = AsyncRateLimiter.of(limiter).blocking()
        AsyncRetry.of(policy).blocking().call {
            attempted()
            AsyncCircuitBreaker.of(breaker).blocking().call {
                AsyncCircuitBreaker.of(inner).blocking().call {
                    if (timed) limited.acquire(NOW) else limited.acquire()
                    AsyncSemaphore.of(semaphore).blocking().call(NOW) { answer() }
                }
            }
        }
    }),
}

private enum class Refuser(val timed: Boolean, val type: KClass<out Exception>, val refuse: Stack.() -> Unit) {
    SEMAPHORE_FULL(true, PermitTimeoutException::class, { check(semaphore.tryAcquire()) }),
    SEMAPHORE_CLOSED(true, SemaphoreClosedException::class, { semaphore.close() }),
    LIMITER_LATE(true, PermitTimeoutException::class, { drain() }),
    LIMITER_FULL(false, RateLimitedException::class, { drain() }),
    LIMITER_CLOSED(true, RateLimiterClosedException::class, { limiter.close() }),
    BREAKER_OPEN(true, CircuitOpenException::class, { inner.trip() });

    companion object {
        private fun Stack.drain() {
            limiter.tryAcquire(limiter.availablePermits.toInt())
        }
    }
}

class RefusalStackTest {
    private fun Stack.refused(face: Face, refuser: Refuser): Throwable {
        val e = assertThrows(refuser.type.java) { face.call(this, refuser.timed) }
        assertInstanceOf(Refusal::class.java, e)
        return e
    }

    @ParameterizedTest
    @MethodSource("refusers")
    fun refusal_countsAsNothingAndIsNotRepeated(refuserName: String) {
        val refuser = Refuser.valueOf(refuserName)
        for (face in Face.values()) {
            val stack = Stack()
            repeat(ADMITTED) { assertEquals("page", face.call(stack, refuser.timed)) }
            refuser.refuse(stack)
            repeat(REFUSED) { stack.refused(face, refuser) }
            assertEquals(ADMITTED, stack.upstream, "$face: calls of the upstream")
            assertEquals(ADMITTED + REFUSED, stack.attempts, "$face: attempts")
            assertEquals(BreakerState.CLOSED, stack.breaker.state, "$face")
            assertEquals(ADMITTED, stack.breaker.metrics.calls, "$face: counted calls")
            assertEquals(0.0, stack.breaker.metrics.failureRate, "$face")
        }
    }

    @Test
    fun refusal_thatRetryIfAccepts_isRepeated() {
        for (face in Face.values()) {
            val stack = Stack(retryIf = { it is PermitTimeoutException })
            Refuser.SEMAPHORE_FULL.refuse(stack)
            stack.refused(face, Refuser.SEMAPHORE_FULL)
            assertEquals(stack.policy.maxAttempts, stack.attempts, "$face: attempts")
            assertEquals(0, stack.upstream, "$face: calls of the upstream")
            assertEquals(0, stack.breaker.metrics.calls, "$face: counted calls")
        }
    }

    private companion object {
        @JvmStatic fun refusers(): List<String> = Refuser.values().map { it.name }
    }
}
