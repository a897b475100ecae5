package baton.waiting.coroutine

import baton.waiting.threads.Trampoline
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher

/**
 * Keeps the stack flat over dispatchers that run their blocks on the thread that dispatches, such as that of `Executor
 * { it.run() }.asCoroutineDispatcher()`. Such a dispatcher differs from one that queues only by an arrival inside the
 * call that dispatched it.
 *
 * Up to [LEVELS] such arrivals of a thread nest. Then blocks for one of the same dispatchers are deferred until the
 * outermost arrival has returned. Blocks for other dispatchers are not deferred: those queue, and a thread that blocks
 * until another one has done its work must not keep that work to itself.
 *
 * As long as no dispatcher has run a block in place, this costs the read of a field for each resumption.
 */
internal object InPlace {
    private const val LEVELS = 8

    private class Frame {
        var depth = 0

        /** The dispatchers of the nested arrivals. */
        val dispatchers = ArrayList<CoroutineDispatcher>(1)
        val deferred = ArrayDeque<() -> Unit>()
    }

    /** Whether a dispatcher has ever run a block in place. */
    @Volatile @JvmField var isInUse: Boolean = false

    /**
     * The frames of the threads on which arrivals nest. A thread removes its frame at the outermost level. Otherwise it
     * would keep the class loader of this class, and of a dispatcher, after the end of an application.
     */
    private val frames = ThreadLocal<Frame>()

    private fun frame(): Frame = frames.get() ?: Frame().also(frames::set)

    /** Whether [dispatch], to [dispatcher], is deferred until the outermost arrival of this thread has returned. */
    fun defer(dispatcher: CoroutineDispatcher, dispatch: () -> Unit): Boolean {
        val isDeep = isDeep(dispatcher)
        if (isDeep) frame().deferred.addLast(dispatch)
        return isDeep
    }

    /** Whether [LEVELS] arrivals nest on this thread, some of them of [dispatcher]. */
    fun isDeep(dispatcher: CoroutineDispatcher): Boolean {
        val frame = frames.get() ?: return false
        return frame.depth >= LEVELS && frame.dispatchers.any { it === dispatcher }
    }

    /** [dispatcher] has run a block inside the call which dispatched it; a call of [nested], once that is in use. */
    fun note(dispatcher: CoroutineDispatcher, context: CoroutineContext) {
        if (dispatcher.isDispatchNeeded(context)) leave(enter(dispatcher), isNote = true)
    }

    /** Runs [call], which may dispatch in place. */
    fun <T> nested(call: () -> T): T {
        val frame = frame()
        frame.depth++
        try {
            return call()
        } finally {
            leave(frame)
        }
    }

    /** Runs an [arrival] that happens inside the call which dispatched it. */
    fun run(dispatcher: CoroutineDispatcher, context: CoroutineContext, arrival: () -> Unit) {
        // kotlinx has run it in place, and keeps the stack flat by itself.
        if (!dispatcher.isDispatchNeeded(context)) {
            arrival()
            return
        }
        val frame = enter(dispatcher)
        try {
            arrival()
        } finally {
            leave(frame)
        }
    }

    private fun enter(dispatcher: CoroutineDispatcher): Frame {
        isInUse = true
        val frame = frame()
        frame.depth++
        if (frame.dispatchers.none { it === dispatcher }) frame.dispatchers.add(dispatcher)
        return frame
    }

    private fun leave(frame: Frame, isNote: Boolean = false) {
        if (frame.depth == 1 && !isNote) {
            while (true) Trampoline.guarded(frame.deferred.removeFirstOrNull() ?: break)
            frame.dispatchers.clear()
        }
        if (--frame.depth == 0) frames.remove()
    }
}
