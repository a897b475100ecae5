package baton.test.interleaving

import baton.bridge.isInSharedRun
import java.util.IdentityHashMap
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.jvm.internal.CoroutineStackFrame
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Job

/** The coroutines of a run, in the order in which they were first dispatched. */
internal class Coroutines {
    private val byJob = IdentityHashMap<Job, ExploredCoroutine>()
    private val withoutJob by lazy { ExploredCoroutine("a timer", null, isLaunched = false) }
    private val names = HashMap<String, Int>()
    private val live = ArrayList<ExploredCoroutine>()
    private val all = ArrayList<ExploredCoroutine>()
    private var unnamed = 0

    /** The one in whose [context] a step is dispatched. The first one is the body. */
    fun of(context: CoroutineContext): ExploredCoroutine {
        val job = context[Job] ?: return withoutJob
        return byJob[job] ?: add(job, context)
    }

    private fun add(job: Job, context: CoroutineContext): ExploredCoroutine {
        val around = aroundScope(job)
        val coroutine = if (around != null) of(around) else create(job, context)
        byJob[job] = coroutine
        return coroutine
    }

    private fun create(job: Job, context: CoroutineContext): ExploredCoroutine {
        val isBody = all.isEmpty()
        val name = if (isBody) BODY else unique(context[CoroutineName]?.name)
        val coroutine = ExploredCoroutine(name, job, isLaunched = !isBody)
        all += coroutine
        // The last of its callers alone cancels a run that they share.
        if (coroutine.isLaunched && !isInSharedRun(context)) live += coroutine
        return coroutine
    }

    private fun unique(name: String?): String {
        if (name == null) return "coroutine ${++unnamed}"
        val count = names.merge(name, 1, Int::plus)
        return if (count == 1) name else "$name ($count)"
    }

    /** Those that have not ended, in the order in which they were first dispatched. */
    fun active(): List<ExploredCoroutine> = all.filter { it.isActive }

    /** Those that may be cancelled, in the order in which they were first dispatched. */
    fun cancellable(): List<ExploredCoroutine> {
        live.removeIf { it.job?.isActive == false }
        return live
    }

    private companion object {
        const val BODY = "test"

        /**
         * The context around the scoped block with this [job], such as `withContext`; null if it is none. Relies on
         * kotlinx.coroutines 1.8 to 1.11, where the Job of such a block is a CoroutineStackFrame whose caller is the
         * coroutine around it. Where that does not hold, the block counts as a coroutine of its own.
         */
        fun aroundScope(job: Job): CoroutineContext? =
            ((job as? CoroutineStackFrame)?.callerFrame as? Continuation<*>)?.context
    }
}
