package baton.waiting

import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Job
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent

/** The coroutines of one test that ask for something and perhaps wait for it. Remaining ones end with the test. */
class Callers(private val scope: TestScope) {
    private val log = mutableListOf<String>()

    /** The names of the callers that were admitted, in that order. */
    val served: List<String>
        get() = log

    /** Starts a coroutine that makes [request], and lets everything run that can run now. */
    fun call(
        name: String = "caller",
        context: CoroutineContext = EmptyCoroutineContext,
        request: suspend () -> Any?,
    ): Caller = start(name, context, CoroutineStart.DEFAULT, request).also { scope.runCurrent() }

    /** Starts a coroutine that makes [request] at once, and returns when it suspends. No other coroutine runs. */
    fun callAtOnce(
        name: String = "caller",
        context: CoroutineContext = EmptyCoroutineContext,
        request: suspend () -> Any?,
    ): Caller = start(name, context, CoroutineStart.UNDISPATCHED, request)

    private fun start(
        name: String,
        context: CoroutineContext,
        start: CoroutineStart,
        request: suspend () -> Any?,
    ): Caller {
        val caller = Caller(name)
        caller.job = scope.backgroundScope.launch(context, start) { caller.make(request, log) }
        return caller
    }
}

/** One of the [Callers], and the outcome of its request so far. */
class Caller internal constructor(val name: String) {
    lateinit var job: Job
        internal set

    /** The exception that the request threw. */
    var failure: Throwable? = null
        private set

    var isServed: Boolean = false
        private set

    /** The request answered false. */
    var gaveUp: Boolean = false
        private set

    val isWaiting: Boolean
        get() = failure == null && !isServed && !gaveUp

    val isCancelled: Boolean
        get() = failure is CancellationException

    fun cancel() {
        job.cancel(null) // which all versions of kotlinx have
    }

    internal suspend fun make(request: suspend () -> Any?, log: MutableList<String>) {
        try {
            gaveUp = request() == false
            isServed = !gaveUp
            if (isServed) log += name
        } catch (e: Throwable) {
            failure = e
        }
    }

    override fun toString(): String =
        when {
            isServed -> "$name (served)"
            gaveUp -> "$name (gave up)"
            failure != null -> "$name ($failure)"
            else -> "$name (waiting)"
        }
}

/**
 * This exception and its causes. A test cannot know which of them was thrown first: where assertions are on,
 * kotlinx.coroutines throws copies, with the original as their cause.
 */
fun Throwable.causes(): List<Throwable> = generateSequence(this) { it.cause }.toList()
