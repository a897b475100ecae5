package baton.parallel.core

import baton.parallel.Outcome
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import java.util.Collections
import java.util.IdentityHashMap

/*
 * How it works
 *
 * One word says where a map stands, and every decision is one compare-and-set of it:
 *
 *   bits 62-34  how many elements have failed, if that many are to stop it
 *   bit 33      EXHAUSTED  the source has no more elements
 *   bit 32      STOPPED    a failure, or one failure too many: nothing is started any more
 *   bits 31-0   the number of elements in flight
 *
 *              start()            succeed, fail, cancel, drop
 *   OPEN n ──────────────▶ n + 1 ──────────────▶ n
 *    │ exhaust(), or a failure
 *    ▼
 *   CLOSED n ── succeed, fail, cancel, drop ──▶ n - 1 ── … ──▶ CLOSED 0 = over
 *
 * (1) start() and exhaust() are called by the puller alone, of which the API (worker coroutines, or stages) has one at a
 *     time. All other members may be called from any thread.
 * (2) Each start() that returned true is followed by exactly one of succeed, fail, cancel and drop. So the number in
 *     flight is exact, and a core that is over stays so.
 * (3) After a stop no start() returns true. A failure that is thrown stops the map and ends its element in one step. One
 *     that is an outcome is counted, which may stop the map, before the outcome is stored; its element ends after that.
 *     So a thread that reads the outcome, and frees its place, finds the failure counted.
 * (4) Before the word says that an element has ended, its result or its failure has been stored. A thread that sees the
 *     core over sees all of them.
 * (5) One thread makes the core over, and calls Results.onOver.
 *
 * The core starts nothing, waits for nothing, and calls no user code. Its lock guards the list of failures alone.
 */
internal class MapCore(val results: Results, private val settling: Boolean, private val maxFailures: Int) {
    @Volatile private var word = 0L

    // The first failure needs no memory, so that a stop for want of memory is one.
    private var first: Throwable? = null
    private val failures = ArrayList<Throwable>(0)
    private val seen = Collections.newSetFromMap(IdentityHashMap<Throwable, Boolean>(1))

    /** Whether the puller may pull an element. */
    val isOpen: Boolean
        get() = isOpen(word)

    val isStopped: Boolean
        get() = word and STOPPED != 0L

    val isExhausted: Boolean
        get() = word and EXHAUSTED != 0L

    val isOver: Boolean
        get() = isOver(word)

    val inFlight: Int
        get() = word.toInt()

    /** Counts the element that was pulled last as in flight. False after a stop: then it must not be started. */
    fun start(): Boolean {
        while (true) {
            val now = word
            if (!isOpen(now)) return false
            if (WORD.compareAndSet(this, now, now + 1)) return true
        }
    }

    /** The source has no more elements. */
    fun exhaust() {
        change(EXHAUSTED, ended = 0)
    }

    fun succeed(index: Int, weight: Int, value: Any?) {
        results.put(index, weight, if (settling) Outcome.Success(value) else value)
        change(0, ended = 1)
    }

    /** Returns whether this has stopped the map. */
    fun fail(index: Int, weight: Int, cause: Throwable): Boolean {
        if (!settling) return stopWith(cause, ended = 1)
        val hasStopped = countFailure()
        endFailed(index, weight, cause)
        return hasStopped
    }

    /** The first step of a failure that is an outcome. Returns whether this has stopped the map. */
    fun countFailure(): Boolean = change(FAILED, ended = 0)

    /** The second step, after [countFailure]. */
    fun endFailed(index: Int, weight: Int, cause: Throwable) {
        results.put(index, weight, Outcome.Failure(cause))
        change(0, ended = 1)
    }

    /** The transform has thrown a CancellationException of its own. Returns whether this has stopped the map. */
    fun cancel(index: Int, weight: Int, cause: Throwable): Boolean {
        if (!settling) return stopWith(cause, ended = 1)
        results.put(index, weight, Outcome.Cancelled(cause))
        return change(0, ended = 1)
    }

    /** The element in flight was cancelled along with the call, or by the stop: it has neither result nor failure. */
    fun drop() {
        change(0, ended = 1)
    }

    /** The source or the runner of the elements has failed. Returns whether this has stopped the map. */
    fun abandon(cause: Throwable): Boolean = stopWith(cause, ended = 0)

    private fun stopWith(cause: Throwable, ended: Int): Boolean {
        suppress(cause)
        return change(STOPPED, ended)
    }

    /** Records a failure that stops nothing. One for which there is no memory is lost, unless it is the first. */
    fun suppress(cause: Throwable) {
        synchronized(failures) {
            if (first == null) first = cause
            try {
                if (seen.add(cause)) failures += cause
            } catch (_: VirtualMachineError) {}
        }
    }

    /** The first failure with the others suppressed in it; null if there was none. Call it once, when it is over. */
    fun failure(): Throwable? = synchronized(failures) { first?.also(::suppressIn) }

    /** Suppresses the failures in [thrown], with which the call ends. */
    fun suppressIn(thrown: Throwable) {
        synchronized(failures) { for (failure in failures) if (failure !== thrown) thrown.addSuppressed(failure) }
    }

    /** Sets [flag], or counts a failure. Returns whether this has stopped the map. */
    private fun change(flag: Long, ended: Int): Boolean {
        while (true) {
            val now = word
            val next = (if (flag == FAILED) withFailure(now) else now or flag) - ended
            if (WORD.compareAndSet(this, now, next)) {
                if (isOver(next) && !isOver(now)) results.onOver()
                return next and now.inv() and STOPPED != 0L
            }
        }
    }

    private fun withFailure(word: Long): Long {
        if (maxFailures >= COUNTED_BELOW) return word
        val counted = word + FAILED
        return if (counted / FAILED >= maxFailures) counted or STOPPED else counted
    }

    private fun isOpen(word: Long) = word and (STOPPED or EXHAUSTED) == 0L

    private fun isOver(word: Long) = !isOpen(word) && word.toInt() == 0

    private companion object {
        const val STOPPED = 1L shl 32
        const val EXHAUSTED = 1L shl 33
        const val FAILED = 1L shl 34

        /** No program has so many failures: from here on they are not counted, so that the word does not overflow. */
        const val COUNTED_BELOW = 1 shl 28

        val WORD: VarHandle =
            MethodHandles.lookup().findVarHandle(MapCore::class.java, "word", Long::class.javaPrimitiveType)
    }
}
