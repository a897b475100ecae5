@file:JvmSynthetic
@file:OptIn(ExperimentalCoroutinesApi::class)

package baton.monitoring.core

import baton.waiting.holders.Holder
import kotlin.coroutines.Continuation
import kotlin.coroutines.jvm.internal.CoroutineStackFrame
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job

// Relies on kotlinx.coroutines 1.8 to 1.11: the Job of a block such as withContext, withTimeout or coroutineScope is a
// CoroutineStackFrame whose caller is the coroutine around it, and other Jobs are not. Where that does not hold, fewer
// deadlocks are found.

/** The Job of the coroutine around this scoped block, which goes on when the block has ended; else null. */
private fun Job.aroundScope(): Job? =
    ((this as? CoroutineStackFrame)?.callerFrame as? Continuation<*>)?.context?.get(Job)

/** The Job of the caller and all above it, the caller's first; also from `withContext(NonCancellable)`. */
internal fun Holder.jobAndThoseAbove(): Sequence<Job> = generateSequence(job) { it.aroundScope() ?: it.parent }

/**
 * The Job that can end the hold of this caller: its own or, when that was a scoped block that has ended, the one
 * around.
 */
internal fun Holder.liveHolder(): Job? = generateSequence(job) { it.aroundScope() }.firstOrNull { !it.isCompleted }
