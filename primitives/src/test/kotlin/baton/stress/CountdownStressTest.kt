package baton.stress

import baton.sync.Latch
import baton.sync.WaitGroup
import baton.sync.countdown.waitGroup
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.Job
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

open class CountdownStressTest : Stress() {
    protected open val rounds
        get() = 500

    /** Awaits in one of all ways; false when it gave up. */
    private suspend fun awaitSomehow(group: WaitGroup): Boolean =
        when (random.nextInt(5)) {
            0 -> group.await(random.nextLong(300).microseconds)
            1 -> withTimeoutOrNull(random.nextLong(1, 3).milliseconds) { group.await() } != null
            2 ->
                select {
                    group.onAwait { true }
                    onTimeout(random.nextLong(2).milliseconds) { false }
                }
            3 -> select { group.onAwait { true } }
            else -> {
                group.await()
                true
            }
        }

    /** The parties' writes before `done` are visible; only the group guards them. */
    @Test
    fun waitGroup_underCancellationTimeoutsAndSelects_releasesNoWaiterBeforeTheLastIsDone() {
        val group = WaitGroup()
        val letIn = AtomicInteger()
        val gaveUp = AtomicInteger()
        stress(group) {
            repeat(rounds) {
                val parties = random.nextInt(1, 5)
                val written = IntArray(parties)
                group.add(parties)
                val awaiters =
                    List(8) {
                        launch {
                            if (awaitSomehow(group)) {
                                check(written.all { it == 1 }) { "released too early" }
                                letIn.incrementAndGet()
                            } else {
                                gaveUp.incrementAndGet()
                            }
                        }
                    }
                val workers =
                    List(parties) { party ->
                        launch {
                            if (random.nextBoolean()) yield()
                            written[party] = 1
                            group.done()
                        }
                    }
                for (awaiter in awaiters) if (random.nextInt(3) == 0) awaiter.cancel()
                joinAll(*(awaiters + workers).toTypedArray())
                check(group.count == 0 && group.waiting == 0) { "$group" }
                watchdog.progress()
            }
        }
        assertTrue(letIn.get() > rounds, "only $letIn released, $gaveUp gave up")
    }

    /** Zero is over as soon as it came: it releases every one of the current waiters, each of them once. */
    @Test
    fun waitGroup_zeroForAMomentOnly_letsInExactlyTheWaiters() {
        val awaiters = 20
        val group = waitGroup(1)
        val letIn = AtomicInteger()
        val over = AtomicInteger()
        stress(group, letIn) {
            val loops: List<Job> =
                List(awaiters) { number ->
                    launch {
                        while (true) {
                            val round = over.get()
                            if (number % 2 == 0) group.await() else select { group.onAwait {} }
                            letIn.incrementAndGet()
                            while (over.get() == round) yield()
                        }
                    }
                }
            for (round in 1..rounds) {
                while (group.waiting < awaiters) yield()
                group.done()
                group.add()
                while (letIn.get() < round * awaiters) yield()
                check(group.waiting == 0 && letIn.get() == round * awaiters) { "$letIn released" }
                over.set(round)
                watchdog.progress()
            }
            loops.forEach { it.cancel() }
        }
        assertEquals(0, group.waiting)
        assertEquals(1, group.count)
    }

    /** Parties come and go on all threads, so that the count is at zero now and then, and some caller always waits. */
    @Test
    fun waitGroup_throughZeroOnAllThreads_forgetsNoWaiter() {
        val group = WaitGroup()
        stress(group) {
            repeat(4) {
                launch {
                    repeat(rounds * 10) {
                        val n = random.nextInt(1, 4)
                        group.add(n)
                        if (random.nextInt(8) == 0) yield()
                        repeat(n) { group.done() }
                    }
                }
            }
            repeat(8) {
                launch {
                    repeat(rounds) {
                        val awaiter = launch { awaitSomehow(group) }
                        if (random.nextInt(3) == 0) awaiter.cancel()
                        awaiter.join()
                        watchdog.progress()
                    }
                }
            }
        }
        assertEquals(0, group.count)
        assertEquals(0, group.waiting)
    }

    /** Some waiters find their batch ended but not woken yet. */
    @Test
    fun cancel_manyRacingWithTheLastCountDown_othersAreLetIn() {
        val waiters = 60
        var latch = Latch(1)
        stress(latch) {
            repeat(rounds) { round ->
                latch = Latch(2)
                val jobs = List(waiters) { launch { latch.await() } }
                while (latch.waiting < waiters) yield()
                val canceller = launch {
                    repeat(round % 32) { Thread.onSpinWait() }
                    for (i in 1..<waiters step 2) jobs[i].cancel()
                }
                val downs = List(2) { launch { latch.countDown() } }
                joinAll(*(jobs + downs + canceller).toTypedArray())
                check((0..<waiters step 2).none { jobs[it].isCancelled })
                check(latch.count == 0 && latch.waiting == 0) { "$latch" }
                watchdog.progress()
            }
        }
    }
}

class CountdownStressDeepTest : CountdownStressTest() {
    override val rounds
        get() = 100_000
}
