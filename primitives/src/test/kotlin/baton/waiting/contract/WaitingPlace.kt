package baton.waiting.contract

import baton.waiting.Caller
import baton.waiting.Callers
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

/** An object on which the next caller waits: all that a [WaiterContract] knows of a primitive and its API. */
interface WaitingPlace {
    /** The number of callers that wait. */
    val waiting: Int

    /** Returns when it was granted. A caller that throws holds nothing. */
    suspend fun waitHere()

    /** False when the time is over. In the virtual time of the calling coroutine; only [WaiterTimeouts] calls it. */
    suspend fun waitHere(timeout: Duration): Boolean

    /** Serves the first waiter, or all of them: first in the holder's name, then in that of the caller served last. */
    fun grant()

    /** Fails the waiters; for the [WaitingKind]s that have an exception for it. */
    fun close(cause: Throwable?): Unit = throw UnsupportedOperationException()

    /** Asserts that no caller waits and that just [holders] hold what the last grant gave them. Takes it from them. */
    fun assertIdle(holders: Int)
}

/** A way to wait, and what is true of it. [create] makes an unused object on which a caller waits. */
class WaitingKind(
    private val name: String,
    /** One grant serves all waiters. */
    val grantsAll: Boolean = false,
    /** The grant of a waiter that is cancelled before it runs goes to the next. */
    val passesOn: Boolean = !grantsAll,
    /** A grant that finds no waiter serves the next caller. */
    val keepsGrant: Boolean = true,
    /** The exception of the waiters of a closed object, if it can be closed. */
    val closed: Class<out Throwable>? = null,
    val create: () -> WaitingPlace,
) {
    override fun toString() = name
}

/** The common part of the topics of the [WaiterContract]. */
interface WaiterFixture {
    val waitingKinds: List<WaitingKind>

    fun eachKind(test: suspend WaitingScene.() -> Unit) = eachKind(listOf("")) { test() }

    /** Runs [test] with a place of its own for every kind and each of [variants]. */
    fun <T> eachKind(variants: Iterable<T>, test: suspend WaitingScene.(T) -> Unit) {
        for (kind in waitingKinds) {
            for (variant in variants) {
                try {
                    runTest { WaitingScene(this, kind).test(variant) }
                } catch (e: Throwable) {
                    throw AssertionError("$kind $variant: $e", e)
                }
            }
        }
    }
}

/** A place and its callers, whose names are numbers unless they are given. */
class WaitingScene(val scope: TestScope, val kind: WaitingKind) {
    val place: WaitingPlace = kind.create()
    val callers = Callers(scope)

    fun waiter(name: String = "waiter", context: CoroutineContext = EmptyCoroutineContext): Caller =
        callers.call(name, context) { place.waitHere() }

    fun waiters(n: Int): List<Caller> = List(n) { waiter("$it") }

    fun timed(timeout: Duration, name: String = "timed"): Caller = callers.call(name) { place.waitHere(timeout) }

    /** A caller that is cancelled before it makes its [request]. */
    fun cancelled(request: suspend () -> Any? = { place.waitHere() }): Caller =
        callers.call {
            currentCoroutineContext().job.cancel()
            request()
        }

    fun run() = scope.runCurrent()

    /** Grants as often as callers wait. */
    fun serveAll() =
        repeat(place.waiting) {
            if (place.waiting > 0) place.grant()
            run()
        }

    fun assertWaiting(n: Int) = assertEquals(n, place.waiting, "waiting")

    fun assertServed(names: Iterable<Any>) = assertEquals(names.map { "$it" }, callers.served)

    fun assertServed(vararg names: Any) = assertServed(names.toList())

    fun assertCancelled(vararg callers: Caller) =
        assertTrue(callers.all { it.isCancelled }) { callers.contentToString() }

    /** Unless a test knows better, the callers served last still hold what they were granted. */
    fun assertIdle(holders: Int = if (kind.grantsAll) callers.served.size else callers.served.size.coerceAtMost(1)) =
        place.assertIdle(holders)
}
