package baton.tasks

import baton.tasks.core.SharedRunCore
import baton.waiting.coroutine.awaitValue
import baton.waiting.coroutine.isExplored
import baton.waiting.keys.KeyEntry
import baton.waiting.keys.KeyTable
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Job
import kotlinx.coroutines.launch

/**
 * Callers of the same key share one run: while a load goes on, further callers wait for its result instead of loading
 * again.
 *
 * ```
 * val flight = SingleFlight<UserId, User>()
 * val user = flight.run(id) { loadUser(id) }
 * ```
 *
 * It is no cache: the result goes to the callers that came while the load was running, and is not kept. A caller that
 * comes later loads anew. Put it before a cache, so that an entry that has expired is loaded once; or see
 * [suspendingLazy].
 *
 * *Run.* The first caller of a key begins the run: its `load` is called, that of the others is not. The run belongs to
 * no caller. It has the context of the caller that begins it (dispatcher, MDC and other thread context elements,
 * priority), except for the job: its job has no parent. It goes on when that caller is cancelled, as long as another
 * one waits; so that caller's dispatcher must live as long.
 *
 * *Cancellation.* A caller that is cancelled leaves at once. Only it is cancelled: the others wait on. The last caller
 * to leave cancels the run. Its key is free from then on, and a new run of it may begin while the cancelled one still
 * ends.
 *
 * *Failure.* All callers get the exception of the load, the same object. A `CancellationException` that the load ends
 * with, such as that of its own `withTimeout`, is the cause of an [IllegalStateException]: it would cancel the callers.
 * The next caller after a failure begins a new run.
 *
 * *Waiting.* [run] suspends until the run has ended. *Order.* All callers of a run go on together. *Memory.* Actions of
 * the run happen before the actions that follow [run].
 *
 * *Misuse.* A [run] of a key inside the run of the same key would wait for itself, and throws [IllegalStateException];
 * two runs that wait for each other's keys deadlock, and stay so when the other callers have left, because each is a
 * caller of the other. Keys must not change their `equals` and `hashCode`. Callers of one key must not depend on whose
 * `load` is called.
 *
 * All members may be called from any thread.
 *
 * @property name shown by messages and [toString].
 */
public class SingleFlight<K : Any, V> @JvmOverloads constructor(public val name: String? = null) {
    /** In messages about a run. */
    @get:JvmSynthetic @set:JvmSynthetic internal var kind: String = "SingleFlight"

    @get:JvmSynthetic
    internal val table: KeyTable<K, SharedRunCore> =
        KeyTable(kind, name, Int.MAX_VALUE, rule = null) { SharedRunCore(kind, it) }

    /** How many keys have a run that has not ended. */
    public val size: Int
        get() = table.size

    /**
     * The result of the run of [key] that is going on, or of a new one that calls [load].
     *
     * *Cancellation.* Throws; see above.
     *
     * @throws IllegalStateException if this is called by the run of the same key, or if that run was cancelled though
     *   this caller was not.
     */
    public suspend fun run(key: K, load: suspend (K) -> V): V {
        val context = coroutineContext
        return share(key) { begin(it, context) { load(key) } }
    }

    /** [begin] is called by the first caller of a run. */
    @JvmSynthetic
    internal suspend fun share(key: K, begin: (KeyEntry<SharedRunCore>) -> Unit): V {
        val entry = table.lease(key)
        try {
            val run = entry.value
            requireOutside(entry, coroutineContext)
            if (run.tryStart()) begin(entry)
            @Suppress("UNCHECKED_CAST")
            return (if (isExplored() || !run.isPassing) awaitValue(run) else run.value()) as V
        } finally {
            leave(entry)
        }
    }

    private fun begin(entry: KeyEntry<SharedRunCore>, context: CoroutineContext, load: suspend () -> V) {
        val inside = Inside(entry, context[Inside]?.going())
        try {
            // UNDISPATCHED: a load that need not suspend costs no dispatch.
            val job =
                CoroutineScope(context.minusKey(Job) + inside).launch(start = CoroutineStart.UNDISPATCHED) {
                    try {
                        succeed(entry, load())
                    } catch (e: Throwable) {
                        end(entry, e)
                    }
                }
            entry.value.canceller = Runnable {
                job.cancel(CancellationException("the last caller of ${entry.value.label()} has left"))
            }
            // A dispatcher that throws may have cost the coroutine its end.
            job.invokeOnCompletion { if (it != null) end(entry, it) }
        } catch (e: Throwable) { // memory or stack is exhausted
            end(entry, e)
        }
    }

    /** The key is free before the callers go on. */
    @JvmSynthetic
    internal fun succeed(entry: KeyEntry<SharedRunCore>, value: V) {
        table.detach(entry)
        entry.value.succeed(value)
    }

    @JvmSynthetic
    internal fun end(entry: KeyEntry<SharedRunCore>, failure: Throwable) {
        table.detach(entry)
        entry.value.fail(failure)
    }

    @JvmSynthetic
    internal fun leave(entry: KeyEntry<SharedRunCore>) {
        if (entry.end()) entry.value.abandon()
    }

    private fun requireOutside(entry: KeyEntry<SharedRunCore>, context: CoroutineContext) {
        var inside = context[Inside]
        while (inside != null) {
            if (inside.entry === entry) throw entry.value.nested()
            inside = inside.outer
        }
        entry.value.requireOutside()
    }

    /**
     * From now on callers of [key] begin a new run, also if one is going on. That run goes on for the callers that wait
     * for it, and they get its result: for one that may have read what has just changed.
     */
    public fun forget(key: K) {
        table.detach(key)
    }

    override fun toString(): String = "${table.label()} (size = $size)"

    /** The run of which a coroutine is a part, and the runs of which that is a part. */
    internal class Inside(val entry: KeyEntry<SharedRunCore>, outer: Inside?) :
        AbstractCoroutineContextElement(Inside) {
        @Volatile private var next = outer

        /**
         * The next one that goes on. A coroutine that a load has started may outlast it: where runs follow from each
         * other in this way, the ended ones would keep all their values in memory.
         */
        val outer: Inside?
            get() {
                var outer = next
                while (outer != null && outer.entry.value.isPassing) outer = outer.next
                next = outer
                return outer
            }

        /** This, or else the next one that goes on. */
        fun going(): Inside? = if (entry.value.isPassing) outer else this

        companion object Key : CoroutineContext.Key<Inside>
    }
}
