package baton.sync

import baton.sync.countdown.CountdownPlace
import baton.sync.countdown.KotlinLatchFace
import baton.sync.countdown.KotlinWaitGroupFace
import baton.sync.countdown.waitGroup
import baton.sync.mutex.KotlinMutexFace
import baton.sync.mutex.MutexPlace
import baton.sync.readwrite.contract.Access
import baton.sync.readwrite.contract.KotlinReadWriteLockFace
import baton.sync.readwrite.contract.ReadWritePlace
import baton.sync.semaphore.contract.KotlinSemaphoreFace
import baton.sync.semaphore.contract.SemaphorePlace
import baton.waiting.Caller
import baton.waiting.Callers
import baton.waiting.contract.WaitingPlace
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.SelectBuilder
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.selects.selectUnbiased
import kotlinx.coroutines.selects.whileSelect
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

private typealias Register = SelectBuilder<Any?>.(suspend () -> Any?) -> Unit

/**
 * The clauses of all primitives beside other clauses of one `select`: one of them wins, and it is as if the others had
 * never been there. For a `select` with one clause and a timeout, see the WaiterContract with the faces that select.
 */
@Tag("jdk")
class SelectClausesTest {
    /** The object is held, and the next caller waits. */
    private class Clause(val name: String, place: WaitingPlace, val register: Register) : WaitingPlace by place {
        /** As many as there are share a grant. */
        val isShared
            get() = name in listOf("onRead", "latch.onAwait", "group.onAwait")
    }

    private fun clauses(): List<Clause> {
        val semaphore = Semaphore(1, acquired = 1)
        val heavy = Semaphore(2, acquired = 2)
        val mutex = Mutex(locked = true)
        val owned = Mutex(locked = true)
        val read = ReadWriteLock()
        val written = ReadWriteLock()
        val latch = Latch(1)
        val group = waitGroup(1)
        return listOf(
            Clause("onAcquire", SemaphorePlace(KotlinSemaphoreFace(semaphore), 1)) { b -> semaphore.onAcquire { b() } },
            Clause("onAcquire(2)", SemaphorePlace(KotlinSemaphoreFace(heavy), 2)) { b -> heavy.onAcquire(2) { b() } },
            Clause("onLock", MutexPlace(KotlinMutexFace(mutex), isOwned = false)) { b -> mutex.onLock { b() } },
            Clause("onLock(owner)", MutexPlace(KotlinMutexFace(owned), isOwned = true)) { b ->
                owned.onLock(Any()) { b() }
            },
            Clause("onRead", ReadWritePlace(KotlinReadWriteLockFace(read), Access.READ, null)) { b ->
                read.onRead { b() }
            },
            Clause("onWrite", ReadWritePlace(KotlinReadWriteLockFace(written), Access.WRITE, null)) { b ->
                written.onWrite { b() }
            },
            Clause("latch.onAwait", CountdownPlace(KotlinLatchFace(latch))) { b -> latch.onAwait { b() } },
            Clause("group.onAwait", CountdownPlace(KotlinWaitGroupFace(group))) { b -> group.onAwait { b() } },
        )
    }

    private fun each(test: suspend TestScope.(Clause) -> Unit) {
        for (i in clauses().indices) {
            val clause = clauses()[i]
            named(clause.name) { runTest { test(clause) } }
        }
    }

    private fun eachPair(test: suspend TestScope.(Clause, Clause) -> Unit) {
        for (i in clauses().indices) {
            for (k in clauses().indices) {
                val one = clauses()[i]
                val two = clauses()[k]
                named("${one.name}, ${two.name}") { runTest { test(one, two) } }
            }
        }
    }

    private fun named(name: String, test: () -> Unit) {
        try {
            test()
        } catch (e: Throwable) {
            throw AssertionError("$name: $e", e)
        }
    }

    /** A caller that selects, and what has won. */
    private class Selector(scope: TestScope, register: SelectBuilder<Any?>.() -> Unit) {
        var won: Any? = null
            private set

        val caller: Caller = Callers(scope).call { won = select(register) }
    }

    private fun TestScope.selector(vararg clauses: Clause, register: SelectBuilder<Any?>.() -> Unit = {}) =
        Selector(this) {
            for (clause in clauses) clause.register(this) { clause }
            register()
        }

    private fun SelectBuilder<Any?>.onReady() = CompletableDeferred("ready").onAwait { it }

    @Test
    fun clause_free_winsAtOnceAndLeavesTheOthersAlone() = each { clause ->
        val channel = Channel<Int>(1).also { it.trySend(7) }
        clause.grant()
        assertEquals(clause, selector(clause) { channel.onReceive { it } }.won)
        assertEquals(7, channel.tryReceive().getOrNull())
        clause.assertIdle(holders = 1)
    }

    @Test
    fun clause_besideOneThatIsReady_registersNothing() = each { clause ->
        assertEquals("ready", selector(clause) { onReady() }.won)
        clause.assertIdle(holders = 0)
    }

    @Test
    fun clause_losesToAChannelATimeoutOrAJob_leavesTheQueueToThoseBehind() = each { clause ->
        val channel = Channel<String>()
        val job = backgroundScope.launch { CompletableDeferred<Unit>().await() }
        val byChannel = selector(clause) { channel.onReceive { it } }
        val byTimeout = selector(clause) { onTimeout(50) { "timeout" } }
        val byJob = selector(clause) { job.onJoin { "job" } }
        val behind = Callers(this).call { clause.waitHere() }
        assertEquals(4, clause.waiting)
        channel.send("channel")
        assertEquals("timeout", select { onTimeout(51) { "timeout" } })
        job.cancel()
        runCurrent()
        assertEquals(listOf("channel", "timeout", "job"), listOf(byChannel, byTimeout, byJob).map { it.won })
        assertEquals(1, clause.waiting)
        clause.grant()
        runCurrent()
        assertTrue(behind.isServed)
        clause.assertIdle(holders = 1)
    }

    @Test
    fun clause_grantAndSendInOneStep_firstWinsAndNothingIsLost() = each { clause ->
        for (isGrantedFirst in listOf(true, false)) {
            val place = clauses().single { it.name == clause.name }
            val channel = Channel<String>()
            val selector = selector(place) { channel.onReceive { it } }
            if (isGrantedFirst) place.grant()
            assertEquals(!isGrantedFirst, channel.trySend("channel").isSuccess)
            if (!isGrantedFirst) place.grant()
            runCurrent()
            assertEquals(if (isGrantedFirst) place else "channel", selector.won)
            place.assertIdle(holders = if (isGrantedFirst) 1 else 0)
        }
    }

    @Test
    fun clause_grantedWhileStillRegistering_wins() = eachPair { one, two ->
        val selector =
            selector(one) {
                one.grant()
                two.register(this) { two }
            }
        assertEquals(one, selector.won)
        one.assertIdle(holders = 1)
        two.assertIdle(holders = 0)
    }

    @Test
    fun clause_grantedWhileStillRegisteringAndAnotherWins_grantGoesToTheNext() = each { clause ->
        for (isNextThere in listOf(true, false)) {
            val place = clauses().single { it.name == clause.name }
            val callers = Callers(this)
            val selector =
                selector(place) {
                    if (isNextThere) callers.callAtOnce { place.waitHere() }
                    onReady()
                    place.grant()
                }
            runCurrent()
            assertEquals("ready", selector.won)
            assertEquals(if (isNextThere) 1 else 0, callers.served.size)
            place.assertIdle(holders = callers.served.size)
        }
    }

    @Test
    fun clauses_twoSelectsCrossing_bothAreServedByOneGrantOfEach() = eachPair { one, two ->
        val selectors = listOf(selector(one, two), selector(two, one))
        assertEquals(listOf(2, 2), listOf(one, two).map { it.waiting })
        one.grant()
        two.grant()
        runCurrent()
        val won = selectors.map { it.won }
        val expected = if (one.isShared) listOf(one, one) else listOf(one, two)
        assertEquals(expected, won)
        for (clause in listOf(one, two)) clause.assertIdle(holders = won.count { it === clause })
    }

    @Test
    fun clauses_bothGrantedInOneStep_loserServesTheNext() = eachPair { one, two ->
        val selector = selector(one, two)
        val next = Callers(this).call { two.waitHere() }
        one.grant()
        two.grant()
        runCurrent()
        assertEquals(one, selector.won)
        assertTrue(next.isServed)
        for (clause in listOf(one, two)) clause.assertIdle(holders = 1)
    }

    @Test
    fun clauses_cancelledWhileWaitingOrBetweenGrantAndResumption_leaveNothing() = eachPair { one, two ->
        val waits = selector(one, two)
        val granted = selector(one, two)
        val next = Callers(this).call { one.waitHere() }
        waits.caller.cancel()
        assertEquals(listOf(2, 1), listOf(one, two).map { it.waiting })
        one.grant()
        granted.caller.cancel()
        runCurrent()
        assertTrue(waits.caller.isCancelled && granted.caller.isCancelled && next.isServed)
        one.assertIdle(holders = 1)
        two.assertIdle(holders = 0)
    }

    @Test
    fun clause_twiceInOneSelect_winsOnce() = each { clause ->
        val selector = selector(clause, clause)
        assertEquals(2, clause.waiting)
        clause.grant()
        runCurrent()
        assertEquals(clause, selector.won)
        clause.assertIdle(holders = 1)
    }

    @Test
    fun clause_blockThrows_grantStaysWithTheCaller() = each { clause ->
        clause.grant()
        assertThrows<IllegalStateException> { select<Any?> { clause.register(this) { error("in the block") } } }
        clause.assertIdle(holders = 1)
    }

    @Test
    fun clause_blockSuspends_holdsTheGrantMeanwhile() = each { clause ->
        val gate = CompletableDeferred<Unit>()
        val selector = Selector(this) { clause.register(this) { gate.await() } }
        clause.grant()
        runCurrent()
        assertTrue(selector.caller.isWaiting)
        gate.complete(Unit)
        runCurrent()
        assertTrue(selector.caller.isServed)
        clause.assertIdle(holders = 1)
    }

    @Test
    fun selectUnbiased_everyClauseFree_takesFromEach() = runTest {
        val clauses = clauses().filterNot { it.isShared }
        clauses.forEach { it.grant() }
        val won = clauses.map { selectUnbiased<Any?> { for (clause in clauses) clause.register(this) { clause } } }
        assertEquals(clauses.toSet(), won.toSet())
        for (clause in clauses) clause.assertIdle(holders = 1)
    }

    @Test
    fun whileSelect_acquire_goesRoundAsOftenAsItWins() = runTest {
        val semaphore = Semaphore(5)
        var taken = 0
        whileSelect { semaphore.onAcquire { ++taken < 5 } }
        assertState(semaphore, available = 0)
        assertEquals(0, currentTime)
    }

    @Test
    fun onLock_ownerHoldsItAlready_throwsAndLeavesTheOtherClausesUnregistered() = each { clause ->
        val mutex = Mutex()
        mutex.lock("t1")
        assertThrows<IllegalStateException> {
            select<Any?> {
                clause.register(this) { clause }
                mutex.onLock("t1") {}
            }
        }
        clause.assertIdle(holders = 0)
        assertEquals("t1", mutex.holder)
    }
}
