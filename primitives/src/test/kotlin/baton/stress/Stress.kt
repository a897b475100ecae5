package baton.stress

import baton.Priority
import java.util.concurrent.ThreadLocalRandom
import kotlin.random.Random
import kotlin.random.asKotlinRandom
import kotlin.time.Duration
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.SelectBuilder
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield

/** The common part of workloads on many threads. */
abstract class Stress {
    internal val watchdog = Watchdog()

    protected val random: Random
        get() = ThreadLocalRandom.current().asKotlinRandom()

    /**
     * Runs [block] on many threads; a coroutine that fails fails the test. [state] is shown if there is no progress.
     */
    protected fun stress(vararg state: Any, block: suspend CoroutineScope.() -> Unit) =
        watchdog.run({ state.joinToString() }) { runBlocking(Dispatchers.Default) { coroutineScope(block) } }

    protected fun <T> oneOf(vararg choices: T): T = choices[random.nextInt(choices.size)]

    /** Of ten. */
    protected fun chance(of: Int): Boolean = random.nextInt(10) < of

    protected suspend fun yieldSometimes() {
        if (random.nextInt(4) == 0) yield()
    }

    protected suspend fun yieldUpTo(times: Int) = repeat(random.nextInt(times)) { yield() }

    protected fun soon(): Duration = random.nextLong(300).microseconds

    /**
     * Repeats [attempt] while [goesOn], in [size] coroutines at a time, of which four in ten are cancelled, and the
     * others after their [patience].
     */
    protected fun CoroutineScope.crowd(
        size: Int,
        goesOn: () -> Boolean,
        patience: Duration = Duration.INFINITE,
        attempt: suspend () -> Unit,
    ): List<Job> =
        List(size) {
            launch(Priority.entries[it % 5]) {
                while (goesOn()) {
                    val victim = launch {
                        repeat(20) {
                            attempt()
                            watchdog.progress()
                        }
                    }
                    if (chance(4)) yieldUpTo(20) else withTimeoutOrNull(patience) { victim.join() }
                    victim.cancelAndJoin()
                }
            }
        }

    /** Gets in by one of all ways, and then runs [use]; or gives up. */
    protected suspend fun getSomehow(
        now: () -> Boolean,
        timed: suspend (Duration) -> Boolean,
        wait: suspend () -> Unit,
        clause: (SelectBuilder<Boolean>.() -> Unit)?,
        use: suspend () -> Unit,
    ) {
        when (random.nextInt(7)) {
            0 -> if (now()) use()
            1 -> if (timed(soon())) use()
            2 ->
                withTimeoutOrNull(random.nextLong(1, 3).milliseconds) {
                    wait()
                    use()
                }
            3 ->
                if (clause != null) {
                    val won = select {
                        clause()
                        onTimeout(random.nextLong(2).milliseconds) { false }
                    }
                    if (won) use()
                }
            else -> {
                wait()
                use()
            }
        }
    }
}
