package baton.interop

import baton.PermitTimeoutException
import baton.asClock
import java.time.Duration
import java.util.concurrent.CompletableFuture
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.TestTimeSource
import kotlin.time.toKotlinDuration
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** [baton.Refusal.retryIn] of timed requests at rate limiters, for futures and for threads. */
class LateRetryInTest {
    private val time = TestTimeSource()
    private val builder = AsyncRateLimiter.builder(3, Duration.ofMillis(900)).clock(time.asClock())
    private val limiter: AsyncRateLimiter = builder.build()
    private val byKey = AsyncRateLimiters.create<String>(builder)
    private val done = CompletableFuture.completedFuture("done")

    private fun lateOf(call: CompletableFuture<*>): PermitTimeoutException? =
        runCatching { call.join() }.exceptionOrNull()?.let { it.cause as PermitTimeoutException }

    private fun expect(permits: Int, name: String, call: (Duration) -> CompletableFuture<*>) {
        while (!call(Duration.ZERO).isCompletedExceptionally) {
            // takes what is there
        }
        val late = checkNotNull(lateOf(call(Duration.ofMillis(1)))) { name }
        assertEquals((permits * 300).milliseconds, late.retryIn()?.toKotlinDuration(), name)
        time += (permits * 300).milliseconds - 1.nanoseconds
        assertEquals(Duration.ofNanos(1), lateOf(call(Duration.ZERO))?.retryIn(), name)
        time += 1.nanoseconds
        assertNull(lateOf(call(Duration.ZERO)), name)
    }

    /** As a call that throws what the future would fail with. */
    private fun blocking(call: () -> Any?): CompletableFuture<Any?> =
        try {
            CompletableFuture.completedFuture(call())
        } catch (e: PermitTimeoutException) {
            CompletableFuture.failedFuture(e)
        }

    @Test
    fun retryIn_ofAFuture_isTheTimeAtWhichItsPermitsAreThere() {
        expect(1, "acquire") { limiter.acquire(it) }
        expect(2, "acquire(2)") { limiter.acquire(2, it) }
        expect(1, "withPermit") { limiter.withPermit({ done }, it) }
        expect(1, "withPermit, executor") { limiter.withPermit({ "done" }, Runnable::run, it) }
        expect(1, "by key") { byKey.acquire("a", 1, it) }
        expect(1, "withPermit by key") { byKey.withPermit("b", { done }, it) }
        expect(1, "pipeline") { AsyncPipeline.builder("api").limiter(limiter).maxWait(it).build().call { done } }
    }

    @Test
    fun retryIn_ofAThread_isTheTimeAtWhichItsPermitsAreThere() {
        expect(1, "acquire") { blocking { limiter.blocking().acquire(it) } }
        expect(3, "acquire(3)") { blocking { limiter.blocking().acquire(3, it) } }
        expect(1, "call") { blocking { limiter.blocking().call(it) { "done" } } }
        expect(1, "call by key") { blocking { byKey.blocking().call("a", it) { "done" } } }
        expect(1, "pipeline") {
            blocking { AsyncPipeline.builder("api").limiter(limiter).maxWait(it).build().blocking().call { "done" } }
        }
    }

    @Test
    fun retryIn_ofSeveralPermitsOfALeakyBucket_isUnknown_becauseItSavesOne() {
        val leaky = AsyncRateLimiter.builder(1, Duration.ofSeconds(1)).leaky().clock(time.asClock()).build()
        assertTrue(leaky.tryAcquire())
        assertNull(checkNotNull(lateOf(leaky.acquire(2, Duration.ZERO))).retryIn())
        assertEquals(Duration.ofSeconds(1), lateOf(leaky.acquire(Duration.ZERO))?.retryIn())
        assertFalse(leaky.tryAcquire())
    }

    @Test
    fun retryIn_ofASemaphore_isUnknown() {
        val semaphore = AsyncSemaphore.create(1)
        val permit = semaphore.acquire().join()
        val late = assertThrows<PermitTimeoutException> { semaphore.blocking().acquire(Duration.ZERO) }
        assertNull(late.retryIn())
        permit.close()
    }
}
