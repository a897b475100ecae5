package baton.lincheck.world

import baton.sync.Barrier
import baton.sync.BarrierBrokenException
import baton.sync.BarrierTimeoutException
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/** Sequential specification of a [Barrier]. */
internal open class BarrierSequential(private val parties: Int, private val breaks: Boolean) {
    private class Party(val timer: Int, val job: Int) {
        val kind
            get() = timer to job

        lateinit var caller: CancellableContinuation<Int>
    }

    private var broken = false
    private val line = ArrayList<Party>()

    /**
     * Results that parties were resumed with and have not looked at yet. Lincheck takes two states for one if the same
     * calls were resumed, whatever with. But here the first party gets another number than the second.
     */
    private val told = ArrayList<Pair<Any, Int>>()

    fun waiting() = line.size

    fun isBroken() = broken

    suspend fun arrive() = await()

    suspend fun arriveTimed(timer: Int) = await(timer = timer)

    suspend fun arriveCancellably(job: Int) {
        try {
            await(job = job)
        } catch (_: BarrierBrokenException) {
            // The operation returns nothing.
        }
    }

    fun timePasses(timer: Int) {
        val party = line.find { it.timer == timer } ?: return
        line -= party
        tell(party, TIMED_OUT)
        if (breaks) abort()
    }

    fun cancel(job: Int) {
        val party = line.find { it.job == job } ?: return
        line -= party
        tell(party, CANCELLED)
        if (breaks) abort()
    }

    private suspend fun await(timer: Int = NONE, job: Int = NONE): Int {
        if (broken) throw BarrierBrokenException("")
        if (line.size == parties - 1) {
            var missing = parties
            for (party in takeAll()) tell(party, --missing)
            return 0
        }
        val party = Party(timer, job)
        val answer = suspendCancellableCoroutine { caller ->
            party.caller = caller
            line += party
        }
        told -= party.kind to answer
        when (answer) {
            TIMED_OUT -> throw BarrierTimeoutException("")
            BROKEN -> throw BarrierBrokenException("")
            else -> return answer
        }
    }

    private fun tell(party: Party, answer: Int) {
        told += party.kind to answer
        party.caller.resume(answer)
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
        for (party in takeAll()) tell(party, BROKEN)
    }

    private fun takeAll() = line.toList().also { line.clear() }

    override fun equals(other: Any?) =
        other is BarrierSequential &&
            broken == other.broken &&
            line.map { it.kind } == other.line.map { it.kind } &&
            told.groupingBy { it }.eachCount() == other.told.groupingBy { it }.eachCount()

    override fun hashCode() = line.size
}

private const val NONE = -1

// Results, besides the numbers of the released parties.
private const val CANCELLED = -1
private const val TIMED_OUT = -2
private const val BROKEN = -3

internal class RetractingForTwo : BarrierSequential(2, breaks = false)

internal class BreakingForThree : BarrierSequential(3, breaks = true)
