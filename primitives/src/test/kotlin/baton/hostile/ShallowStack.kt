package baton.hostile

import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertTrue

/**
 * Runs an operation with every amount of stack that is too small for it. A thread with a small stack calls itself until
 * the stack overflows; from there each level tries the operation on its way back, on a subject of its own, until it has
 * come through [ENOUGH] times in a row. Then each subject must still work.
 */
object ShallowStack {
    /**
     * @param prepare makes a subject.
     * @param operation runs short of stack. It may throw nothing but a [StackOverflowError].
     * @param shifts the number of sweeps over compiled code, each begun a bit deeper: its levels are coarse.
     * @param check calls the subject again, with all the stack that it needs. It fails if it throws or does not return.
     * @return how many operations overflowed.
     */
    fun <S> sweep(prepare: () -> S, operation: (S) -> Unit, shifts: Int = SHIFTS, check: (S) -> Unit): Int {
        // First with enough stack: a class whose initializer overflows is lost for good.
        prepare().also(operation).also(check)
        val interpreted = overflow(0, prepare, operation)
        repeat(WARM_UPS) { prepare().also(operation) }
        val tried = interpreted + (0 until shifts).flatMap { overflow(it, prepare, operation) }
        checkAll(tried, check)
        return tried.size
    }

    /** Checks all subjects on one thread. Fails when one check hangs. */
    private fun <S> checkAll(tried: List<S>, check: (S) -> Unit) {
        val next = AtomicInteger()
        var failure: Throwable? = null
        val checker =
            thread(isDaemon = true) {
                failure =
                    runCatching { for (subject in tried) check(subject).also { next.incrementAndGet() } }
                        .exceptionOrNull()
            }
        do {
            val before = next.get()
            checker.join(PATIENCE_MILLIS)
        } while (checker.isAlive && next.get() != before)
        val where = "overflow ${next.get()} of ${tried.size}"
        assertEnds(checker, "the check after $where")
        failure?.let { throw AssertionError("after $where", it) }
    }

    /** Returns the subjects whose operation overflowed. */
    private fun <S> overflow(shift: Int, prepare: () -> S, operation: (S) -> Unit): List<S> {
        val sweep = Sweep(shift, List(LEVELS) { prepare() }, operation)
        val worker = Thread(null, sweep, "shallow", STACK_BYTES)
        worker.isDaemon = true
        worker.start()
        worker.join(PATIENCE_MILLIS)
        assertEnds(worker, "the operation")
        sweep.failure?.let { throw it }
        return sweep.tried
    }

    private fun assertEnds(thread: Thread, what: String) {
        assertTrue(!thread.isAlive) { "$what hangs:\n${thread.stackTrace.joinToString("\n")}" }
    }

    private class Sweep<S>(private val shift: Int, private val subjects: List<S>, private val operation: (S) -> Unit) :
        Runnable {
        /** The subjects whose operation overflowed. */
        val tried = ArrayList<S>(subjects.size)
        var failure: Throwable? = null
        private var next = 0
        private var successes = 0

        override fun run() = shift(shift)

        private fun shift(frames: Int) {
            if (frames == 0) descend() else shift(frames - 1)
        }

        private fun descend() {
            try {
                descend()
            } catch (_: StackOverflowError) {
                // The bottom; from here upward there is a little more stack at each level.
            }
            if (successes == ENOUGH || next == subjects.size) return
            try {
                attempt()
            } catch (_: StackOverflowError) {
                // Not even the attempt itself had the stack that it needs.
            }
        }

        private fun attempt() {
            val subject = subjects[next++]
            try {
                operation(subject)
                successes++
            } catch (_: StackOverflowError) {
                successes = 0
                tried += subject
            } catch (_: InternalError) {
                // The JVM makes one of an overflow in its own code that links a call.
                successes = 0
                tried += subject
            } catch (e: Throwable) {
                failure = e
                successes = ENOUGH
            }
        }
    }

    /** After so many successful operations in a row, operations with more stack are assumed to succeed, too. */
    private const val ENOUGH = 20

    /** More than any operation overflows at. */
    private const val LEVELS = 400

    /** Enough for the operation to be compiled: compiled code overflows in other places. */
    private const val WARM_UPS = 20_000

    private const val SHIFTS = 20

    private const val STACK_BYTES = 256L * 1024
    private val PATIENCE_MILLIS = TimeUnit.SECONDS.toMillis(120)
}
