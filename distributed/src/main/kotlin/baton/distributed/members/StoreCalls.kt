package baton.distributed.members

import baton.distributed.CoordinationStore
import baton.distributed.OutcomeUnknownException
import baton.distributed.StoreUnavailableException
import baton.waiting.clock.BoundClock
import baton.waiting.threads.Trampoline
import java.util.concurrent.CompletionException
import java.util.concurrent.CompletionStage
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.coroutines.coroutineContext
import kotlin.coroutines.resume
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.suspendCancellableCoroutine

/**
 * The calls to the store: each has a time limit, and while the store is away only one call a second, of all locks
 * together, finds out whether it is back. An outage is reported once. Confined to the dispatcher of the cluster.
 */
internal class StoreCalls(
    val store: CoordinationStore,
    private val label: String,
    private val clock: BoundClock,
    private val random: Random,
    private val limit: Duration,
) {
    /** The failure of the last call; null while the store answers. */
    @Volatile
    var trouble: Throwable? = null
        private set

    private var nextTry = 0L

    /** The answer of the store. Throws [StoreUnavailableException], or [OutcomeUnknownException] in all other cases. */
    suspend fun <T> call(begin: CoordinationStore.() -> CompletionStage<T>): T {
        val stage =
            try {
                store.begin()
            } catch (e: IllegalArgumentException) { // no store can do that
                throw e
            } catch (e: Throwable) {
                throw failed(e)
            }
        val answer = answerOf(stage).getOrElse { throw failed(it) }
        if (trouble != null) trouble = null
        return answer
    }

    /** A result, so that a failure of the store is none of the caller's coroutine. */
    private suspend fun <T> answerOf(stage: CompletionStage<T>): Result<T> {
        val context = coroutineContext
        return suspendCancellableCoroutine { caller ->
            val once = AtomicBoolean()
            val timer =
                clock.schedule(limit, context) {
                    val late = OutcomeUnknownException("$store has not answered within $limit", null)
                    if (once.compareAndSet(false, true)) caller.resume(Result.failure(late))
                }
            stage.whenComplete { value, failure ->
                if (!once.compareAndSet(false, true)) return@whenComplete
                timer?.dispose()
                val why = (failure as? CompletionException)?.cause ?: failure
                caller.resume(if (why == null) Result.success(value) else Result.failure(why))
            }
            caller.invokeOnCancellation { timer?.dispose() }
        }
    }

    private fun failed(why: Throwable): Throwable {
        val failure =
            when (why) {
                is StoreUnavailableException,
                is OutcomeUnknownException -> why
                else -> OutcomeUnknownException("$store has failed: $why", why)
            }
        val isFirst = trouble == null
        trouble = failure
        if (isFirst) {
            Trampoline.report(IllegalStateException("$label waits for its store, and tries again: $failure", failure))
        }
        return failure
    }

    /** After a failure: waits for the turn of the caller to try again. */
    suspend fun awaitTry() {
        while (trouble != null) {
            val left = nextTry - clock.read()
            if (left <= 0) {
                nextTry = clock.read() + PAUSE.inWholeNanoseconds
                return
            }
            sleep((random.nextDouble() * left).toLong().coerceAtLeast(MIN_SLEEP).nanoseconds)
        }
    }

    /** Up to some milliseconds, at random: the writers that have met shall not meet again. */
    suspend fun pauseAfterRace(races: Int) {
        sleep(random.nextLong(1, 1L shl minOf(races, MOST_DOUBLINGS)).milliseconds)
    }

    /** Waits by the clock of the cluster. */
    suspend fun sleep(time: Duration) {
        if (time <= Duration.ZERO) return
        val context = coroutineContext
        suspendCancellableCoroutine { caller ->
            val timer = clock.schedule(time, context) { caller.resume(Unit) }
            caller.invokeOnCancellation { timer?.dispose() }
        }
    }

    private companion object {
        val PAUSE = 1.seconds
        const val MIN_SLEEP = 1_000_000L
        const val MOST_DOUBLINGS = 4
    }
}

/** Whether this is a failure of the store, after which another try may succeed. */
internal val Throwable.isOfStore: Boolean
    get() = this is StoreUnavailableException || this is OutcomeUnknownException
