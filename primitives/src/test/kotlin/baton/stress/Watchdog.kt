package baton.stress

import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.atomic.AtomicReference
import kotlin.concurrent.thread

/** Counts progress; when there is none for [patienceMillis], dumps all there is to see and ends [run]. */
internal class Watchdog(private val patienceMillis: Long = 120_000) {
    private val steps = AtomicLong()
    private val verdict = AtomicReference<String>()

    fun progress() {
        steps.incrementAndGet()
    }

    /** Runs [block] on this thread, which is interrupted if there is no progress any more. */
    fun run(state: () -> String, block: () -> Unit) {
        val worker = Thread.currentThread()
        val done = CountDownLatch(1)
        thread(name = "watchdog", isDaemon = true) {
            var seen = -1L
            // Counted by looks and not by the clock, which goes on while the whole machine is halted.
            var looks = 0
            while (!done.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                val now = steps.get()
                looks = if (now == seen) looks + 1 else 0
                seen = now
                if (looks * LOOK_MILLIS > patienceMillis) {
                    verdict.set("no progress after $seen steps: ${state()}")
                    System.err.println(dump(state()))
                    worker.interrupt()
                    break
                }
            }
        }
        try {
            block()
        } catch (e: InterruptedException) {
            throw AssertionError(verdict.get() ?: "interrupted", e)
        } finally {
            done.countDown()
        }
    }

    private fun dump(state: String) = buildString {
        appendLine("No progress. $state")
        for ((thread, stack) in Thread.getAllStackTraces()) {
            appendLine(thread)
            stack.forEach { appendLine("    at $it") }
        }
    }

    private companion object {
        const val LOOK_MILLIS = 250L
    }
}
