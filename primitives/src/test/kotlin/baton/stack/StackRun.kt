package baton.stack

import baton.channels.ChannelClosedException
import baton.waiting.Enough
import java.util.concurrent.Executor
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.asCoroutineDispatcher
import org.junit.jupiter.api.Assertions.assertEquals

/** Where a waiter that is granted something goes on: on the stack of the caller that has granted it. */
enum class World(val context: CoroutineContext) {
    UNCONFINED(Dispatchers.Unconfined),
    NO_DISPATCHER(EmptyCoroutineContext),
    IMMEDIATE(Immediate),
    IN_PLACE(Executor(Runnable::run).asCoroutineDispatcher());

    private object Immediate : CoroutineDispatcher() {
        override fun isDispatchNeeded(context: CoroutineContext) = false

        override fun dispatch(context: CoroutineContext, block: Runnable) = block.run()
    }
}

/** Starts coroutines in great numbers and counts how they end. For tests that run with a small stack. */
abstract class StackRun {
    protected var done: Int = 0

    /** Those that were cancelled, or found their channel closed. */
    protected var failed: Int = 0

    protected fun start(context: CoroutineContext, block: suspend () -> Unit) {
        block.startCoroutine(
            object : Continuation<Unit> {
                override val context = context

                override fun resumeWith(result: Result<Unit>) {
                    when (val e = result.exceptionOrNull()) {
                        null -> done++
                        is ChannelClosedException,
                        is CancellationException -> failed++
                        else -> throw e
                    }
                }
            }
        )
    }

    /** Many coroutines wait, and [release] wakes all of them. */
    protected fun releaseMany(world: World, wait: suspend () -> Unit, waiting: () -> Int, release: () -> Unit) {
        repeat(MANY) { start(world.context) { wait() } }
        assertEquals(MANY, waiting())
        release()
        assertEquals(MANY, done)
        assertEquals(0, waiting())
    }

    /**
     * Each of [count] coroutines waits for a subject, and when it is woken, opens the next. Returns the last subject.
     */
    protected fun <S> openInAChain(
        world: World,
        count: Int,
        subject: () -> S,
        wait: suspend (S) -> Unit,
        open: (S) -> Unit,
    ): S {
        val first = subject()
        var before = first
        repeat(count) {
            val own = before
            val next = subject()
            start(world.context) {
                wait(own)
                open(next)
            }
            before = next
        }
        open(first)
        assertEquals(count, done)
        return before
    }

    /** Each of ten woken coroutines closes and opens the subject, which wakes all that wait by then; [count] times. */
    protected fun reopenInAChain(
        world: World,
        count: Int,
        wait: suspend () -> Unit,
        close: () -> Unit,
        open: () -> Unit,
    ) {
        repeat(10) {
            start(world.context) {
                repeat(count / 10) {
                    wait()
                    close()
                    open()
                }
            }
        }
        open()
        assertEquals(10, done)
    }

    /** Each of [count] callers waits, and when it is cancelled, cancels the next. */
    protected fun cancelInAChain(world: World, count: Int, wait: suspend (whenCancelled: () -> Unit) -> Unit) {
        val jobs = List(count) { Job() }
        repeat(count) { n -> start(world.context + jobs[n]) { wait { if (n + 1 < count) jobs[n + 1].cancel(Enough) } } }
        jobs[0].cancel(Enough)
        assertEquals(count, failed)
    }

    protected inline fun finally(whenCancelled: () -> Unit, wait: () -> Unit) =
        try {
            wait()
        } finally {
            whenCancelled()
        }

    protected companion object {
        /** A stack of 256 KiB bears some two thousand of them that stand upon one another. */
        const val MANY = 10_000
    }
}
