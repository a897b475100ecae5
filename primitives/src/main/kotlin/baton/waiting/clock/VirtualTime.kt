package baton.waiting.clock

import baton.BatonClock
import baton.waiting.threads.DispatcherOver
import java.time.Instant
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Delay
import kotlinx.coroutines.ExecutorCoroutineDispatcher
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.MainCoroutineDispatcher

/**
 * Finds the virtual time in which a coroutine waits.
 *
 * A coroutine waits by the `Delay` of its dispatcher, and by the system's time if that has none. So a scheduler among
 * the elements of the context says nothing: it is still there on Dispatchers.IO.
 */
@OptIn(InternalCoroutinesApi::class)
internal object VirtualTime {
    private val library = TestLibrary.find()

    /** Whether a library for virtual time is there. Else all that asks for it is dead code. */
    @JvmField val isPossible: Boolean = library != null || hasExplorer()

    private fun hasExplorer() =
        try {
            Class.forName("baton.test.ExploreScope", false, VirtualTime::class.java.classLoader)
            true
        } catch (_: ClassNotFoundException) {
            false
        }

    /**
     * Null if coroutines in [context] wait in the system's time.
     *
     * @throws IllegalStateException if that is unknown, in a test with virtual time.
     */
    fun clockOf(context: CoroutineContext): BatonClock? {
        var dispatcher: Any? = context[ContinuationInterceptor]
        while (true) {
            when (dispatcher) {
                is ClockedDispatcher -> return dispatcher.clock.takeUnless { it is RealClock }
                is DispatcherOver -> dispatcher = dispatcher.underlying
                is ExecutorCoroutineDispatcher -> return null
                is MainCoroutineDispatcher -> return clockOfMain(dispatcher, context)
                is Delay -> {
                    library?.schedulerOf(dispatcher)?.let {
                        return clockOf(it, dispatcher as CoroutineDispatcher)
                    }
                    dispatcher = underlyingOf(dispatcher) ?: return refuseInTest(dispatcher, context)
                }
                else -> return null
            }
        }
    }

    /** It may have been set to a view, which hides its time, or to Dispatchers.Unconfined, which has none. */
    private fun clockOfMain(main: MainCoroutineDispatcher, context: CoroutineContext): BatonClock? {
        val scheduler = library?.schedulerOfMain()
        if (scheduler != null) return clockOf(scheduler, main)
        return if (main.isDispatchNeeded(context)) refuseInTest(main, context) else null
    }

    private fun clockOf(scheduler: Any, dispatcher: CoroutineDispatcher): BatonClock =
        VirtualClock(scheduler, dispatcher, Instant.now())

    /**
     * The dispatcher below a view of kotlinx.coroutines, as `limitedParallelism` makes it; null if it cannot be seen.
     */
    private fun underlyingOf(view: Any): Any? {
        if (!view.javaClass.name.startsWith("kotlinx.coroutines.internal.")) return null
        val field = view.javaClass.declaredFields.firstOrNull { it.type == CoroutineDispatcher::class.java }
        return try {
            field?.apply { isAccessible = true }?.get(view)
        } catch (_: RuntimeException) { // Not accessible, on the module path.
            null
        }
    }

    private fun refuseInTest(dispatcher: Any, context: CoroutineContext): BatonClock? {
        val isInTest = context.fold(false) { found, element -> found || library?.isScheduler(element) == true }
        check(!isInTest) { "In a test with virtual time, that of $dispatcher is unknown: $IN_TEST" }
        return null
    }

    fun millisOf(scheduler: Any): Long = checkNotNull(library).millisOf(scheduler)

    /** The runner of a test in virtual time on the calling thread; null without one. Walks the stack. */
    fun runnerOfThread(): Runner? =
        StackWalker.getInstance().walk { frames ->
            frames.map { frame -> runnerIn(frame.className) }.filter { it != null }.findFirst().orElse(null)
        }

    private fun runnerIn(className: String) = Runner.entries.firstOrNull { className.startsWith(it.packageName) }

    /** The runner of a test's coroutines. */
    enum class Runner(val packageName: String) {
        RUN_TEST(TestLibrary.NAME),
        EXPLORE("baton.test.interleaving."),
    }

    /** How a message ends about an object of which this refuses a use in the time of [clocks], not all of them real. */
    fun remedyIn(vararg clocks: BatonClock): String {
        val virtual = clocks.first { it !is RealClock }
        return when {
            virtual is VirtualClock -> IN_TEST
            runnerIn(virtual.javaClass.name) == Runner.EXPLORE -> IN_EXPLORE
            else -> "make it with the clock $virtual"
        }
    }

    /** For an object that has to know the time of a test, but not by its first call. */
    const val IN_TEST: String = "make it with clock = testScheduler.asBatonClock() of baton-test"

    private const val IN_EXPLORE = "make it in the body of explore, and use it in coroutines of that body alone"
}
