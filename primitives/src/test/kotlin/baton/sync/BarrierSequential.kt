package baton.sync

import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/** What a [Barrier] is to do, for one thread at a time. */
internal open class BarrierSequential(private val parties: Int, private val breaks: Boolean) {
    private class Party(val timer: Int, val job: Int, val caller: CancellableContinuation<Int>) {
        val kind get() = timer to job
    }

    private var broken = false
    private val line = ArrayList<Party>()

    fun waiting() = line.size

    fun isBroken() = broken

    suspend fun arrive() = await()

    suspend fun arriveTimed(timer: Int) = await(timer = timer)

    suspend fun arriveCancellably(job: Int) {
        await(job = job)
    }

    fun timePasses(timer: Int) {
        val party = line.find { it.timer == timer } ?: return
        line -= party
        party.caller.resumeWithException(BarrierTimeoutException(""))
        if (breaks) abort()
    }

    fun cancel(job: Int) {
        val party = line.find { it.job == job } ?: return
        line -= party
        party.caller.resume(0)
        if (breaks) abort()
    }

    private suspend fun await(timer: Int = NOBODYS, job: Int = NOBODYS): Int {
        if (broken) throw BrokenBarrierException("")
        if (line.size == parties - 1) {
            var missing = parties
            for (party in takeAll()) party.caller.resume(--missing)
            return 0
        }
        return suspendCancellableCoroutine { caller -> line += Party(timer, job, caller) }
    }

    fun abort() {
        broken = true
        fail()
    }

    fun reset() {
        broken = false
        fail()
    }

    private fun fail() {
        for (party in takeAll()) party.caller.resumeWithException(BrokenBarrierException(""))
    }

    private fun takeAll() = line.toList().also { line.clear() }

    override fun equals(other: Any?) =
        other is BarrierSequential && broken == other.broken && line.map { it.kind } == other.line.map { it.kind }

    override fun hashCode() = line.size
}

private const val NOBODYS = -1

internal class RetractingForTwo : BarrierSequential(2, breaks = false)

internal class BreakingForThree : BarrierSequential(3, breaks = true)
