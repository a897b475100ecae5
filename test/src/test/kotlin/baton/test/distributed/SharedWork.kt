package baton.test.distributed

import baton.PermitTimeoutException
import baton.distributed.DistributedSemaphore
import baton.distributed.Lease
import baton.distributed.LeaseLostException
import baton.distributed.OutcomeUnknownException
import baton.distributed.StoreUnavailableException
import baton.distributed.bridge.timeLeftOf
import baton.test.SimulatedNode
import baton.test.SimulationScope
import baton.test.history.Holders
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch

/** Nodes whose callers take permits of one semaphore, and the checks of it. */
internal class SharedWork(private val scope: SimulationScope, private val longest: Long = 4_000) {
    /** @property isBlock whether it is cancelled when the lease is lost. */
    private class Held(val node: SimulatedNode, val lease: Lease, val weight: Int, val isBlock: Boolean) {
        var end: (Long) -> Unit = {}
    }

    private val random = scope.random
    private val permits = random.nextInt(1, 4)
    private val held = ArrayList<Held>()
    private val holders = Holders(permits)
    private val nodes = ArrayList<SimulatedNode>()
    private val done = HashSet<SimulatedNode>()
    private var lastToken = 0L
    private var tooManySince = -1L

    /** Whether the seed goes on until the heartbeats have given all back. It takes half of the time. */
    private val isLookedAfter = random.nextInt(8) == 0

    /** @param looksAfter whether what is left in the store counts, too. */
    fun start(looksAfter: Boolean = true) {
        repeat(NODES) {
            nodes +=
                scope.node {
                    run()
                    done += this
                    while (!nodes.all { it in done || it.machine.isDead }) delay(1.seconds)
                    if (isLookedAfter) delay(60.seconds)
                }
        }
        scope.always("valid leases fit the permits") { inside { it.lease.isHeld } <= permits }
        scope.always("blocks fit the permits", ::doBlocksFit)
        scope.always("tokens of a single permit grow") { areTokensGrowing }
        scope.afterwards {
            for (mine in held) mine.end(endOf(mine)) // of dead nodes
            holders.violation()?.let { throw AssertionError(it) }
        }
        if (isLookedAfter && looksAfter)
            scope.afterwards {
                val text = scope.store.current(KEY).map { it.text() }.orElse("")
                check(nodes.any { it.machine.isDead } || "\"member\"" !in text) { text }
            }
    }

    private var areTokensGrowing = true

    private fun inside(isCounted: (Held) -> Boolean) =
        held.sumOf { if (!it.node.isStopped && isCounted(it)) it.weight else 0 }

    /**
     * A block whose lease is lost ends in the moment in which its node finds out, and so before the next one begins.
     */
    private fun doBlocksFit(): Boolean {
        if (inside { it.isBlock } <= permits) tooManySince = -1 else if (tooManySince < 0) tooManySince = scope.nanos
        return tooManySince < 0 || scope.nanos - tooManySince < MOMENT
    }

    private suspend fun SimulatedNode.run() = coroutineScope {
        val semaphore = cluster.semaphore("s", permits, keep = random.nextBoolean())
        repeat(CALLERS) { launch { repeat(CALLS) { call(this@run, semaphore) } } }
    }

    private suspend fun call(node: SimulatedNode, semaphore: DistributedSemaphore) {
        delay(random.nextLong(PAUSE))
        val weight = random.nextInt(1, permits + 1)
        try {
            val work: suspend (Lease) -> Unit = { lease -> hold(Held(node, lease, weight, isBlock = true)) }
            when (random.nextInt(4)) {
                0 -> semaphore.withPermits(weight, random.nextLong(1, PAUSE).milliseconds, work)
                1 -> semaphore.tryAcquire(weight)?.use { hold(Held(node, it, weight, isBlock = false)) }
                else -> semaphore.withPermits(weight, work)
            }
        } catch (_: LeaseLostException) {} catch (_: PermitTimeoutException) {} catch (
            _: StoreUnavailableException) {} catch (_: OutcomeUnknownException) {}
    }

    /** The end of [mine], if that is now: by the clock of a machine that stood still, it may have been before. */
    private fun endOf(mine: Held): Long {
        val overSince = minOf(0, timeLeftOf(mine.lease).inWholeNanoseconds)
        return scope.nanos + (overSince / mine.node.machine.speed).toLong()
    }

    private suspend fun hold(mine: Held) {
        held += mine
        mine.end = holders.hold(mine.node.name, mine.weight, scope.nanos)
        mine.lease.onLost { mine.end(endOf(mine)) }
        try {
            if (permits == 1) {
                areTokensGrowing = areTokensGrowing && mine.lease.fencingToken > lastToken
                lastToken = mine.lease.fencingToken
            }
            delay(random.nextLong(longest))
        } finally {
            mine.end(endOf(mine))
            held -= mine
        }
    }

    private companion object {
        const val KEY = "simulation:semaphore:s"
        const val NODES = 3
        const val CALLERS = 2
        const val CALLS = 2
        const val PAUSE = 2_000L
        const val MOMENT = 1_000_000L
    }
}
