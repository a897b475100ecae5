package baton.sync

import baton.Priority
import baton.waiting.Enough
import java.util.concurrent.Callable
import java.util.concurrent.ExecutionException
import java.util.concurrent.Executors
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.cancellation.CancellationException
import kotlinx.coroutines.AbstractCoroutine
import kotlinx.coroutines.CoroutineStart
import org.junit.jupiter.api.Assertions.assertFalse

/**
 * Plays every pair of operations, and cancels one of the two before every single step that they, and the callers beside
 * them, can make: one run for each. Every run has a [W] of its own.
 */
abstract class CancelSweep<W, O>(private val ops: List<O>) {
    /** The text that a failure reports beside the operations. */
    protected abstract val start: String

    /** All calls run on [dispatcher]; callbacks of the world may, too. */
    protected abstract fun create(dispatcher: StepDispatcher): W

    /** Returns how often [SweepRun.world] is held by the caller now. */
    protected abstract suspend fun call(op: O, world: W, caller: String): Int

    /** The actions of other callers beside the two, each in a turn of its own. */
    protected abstract fun SweepRun<W>.beside()

    /** Completes the calls that still wait, and checks how all have ended and what is left. */
    protected abstract fun SweepRun<W>.end(first: SweptCall, second: SweptCall)

    /** The number of runs. They share nothing, so that all processors can have theirs. */
    fun run(): Int {
        val threads = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())
        try {
            return threads.invokeAll(ops.map { first -> Callable { sweep(first) } }).sumOf { it.get() }
        } catch (e: ExecutionException) {
            throw e.cause ?: e
        } finally {
            threads.shutdownNow()
        }
    }

    private fun sweep(first: O): Int {
        var runs = 0
        for (second in ops) {
            for (variant in 0..3) {
                val victimIsFirst = variant % 2 == 0
                val lazily = variant / 2 == 0
                var cancelAt = 0
                do {
                    val dispatcher = StepDispatcher()
                    val run = SweepRun(create(dispatcher), dispatcher, cancelAt, lazily)
                    try {
                        play(run, first, second, victimIsFirst)
                    } catch (e: Throwable) {
                        val how = "$start, victim first: $victimIsFirst, lazily: $lazily"
                        throw AssertionError("$first, $second, $how, cancelled at $cancelAt: ${run.world}", e)
                    }
                    runs++
                    cancelAt++
                } while (run.turns >= cancelAt)
            }
        }
        return runs
    }

    private fun play(run: SweepRun<W>, first: O, second: O, victimIsFirst: Boolean) {
        val a = run.start(Priority.NORMAL) { call(first, it, "a") }
        val b = run.start(Priority.HIGH) { call(second, it, "b") }
        run.victim = if (victimIsFirst) a else b
        if (!run.lazily) run.drain()
        run.beside()
        run.fireTimers()
        run.drain()
        run.end(a, b)
        run.assertNoTimers()
    }
}

/** One run, in which the victim is cancelled before turn [cancelAt]. */
class SweepRun<W>(
    val world: W,
    private val dispatcher: StepDispatcher,
    private val cancelAt: Int,
    val lazily: Boolean,
) {
    lateinit var victim: SweptCall

    var turns = 0
        private set

    fun start(priority: Priority, call: suspend (W) -> Int): SweptCall =
        SweptCall(dispatcher + priority).also { it.start(CoroutineStart.DEFAULT, world, call) }

    fun turn(action: () -> Unit) {
        beginTurn()
        action()
        if (!lazily) drain()
    }

    fun drain() {
        do beginTurn() while (dispatcher.step())
    }

    fun fireTimers() = turn { dispatcher.fireTimers() }

    fun assertNoTimers() = assertFalse(dispatcher.hasTimers, "a timer is left")

    private fun beginTurn() {
        if (turns++ == cancelAt) victim.cancel(Enough)
    }
}

/** As `async` makes it, but for the names that this gives to coroutine and thread at each step while it is debugged. */
class SweptCall(context: CoroutineContext) : AbstractCoroutine<Int>(context, initParentJob = false, active = true) {
    /** How often the world is held by this call; nothing, if it failed. */
    var held = 0
        private set

    var failure: Throwable? = null
        private set

    override fun onCompleted(value: Int) {
        held = value
    }

    override fun onCancelled(cause: Throwable, handled: Boolean) {
        failure = cause
    }

    /** Throws the exception that the call has ended with, unless the call may end with it. */
    inline fun throwUnless(mayEndWith: (Throwable) -> Boolean) {
        failure?.let { if (it !is CancellationException && !mayEndWith(it)) throw it }
    }
}
