package baton.waiting

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class WaiterBatchTest {
    private val core = FakeCore()
    private val log = mutableListOf<String>()
    private val crowd = LoggingCrowd()

    private fun gather(count: Int, accepts: (Int) -> Boolean = { true }) =
        List(count) { i ->
            FakeWaiter(core, request = i, accepts = accepts(i)) { log += "runs $i" }.also { gather(it) }
        }

    private fun gather(waiter: Waiter, into: WaiterBatch = crowd) {
        check(waiter.startGathering())
        into.add(waiter)
    }

    private fun stateOf(waiters: List<Waiter>) = waiters.map { it.currentState }

    @Test
    fun crowd_ended_isLetInInTheOrderOfArrival() {
        val members = gather(3)
        assertEquals(3, crowd.size)
        core.end(crowd)
        assertEquals(List(3) { Waiter.GRANTED }, stateOf(members))
        assertEquals(listOf("runs 0", "runs 1", "runs 2"), log.filter { it.startsWith("runs") })
        assertTrue(crowd.hasEnded)
    }

    @Test
    fun ended_decidesOnItsMembersOnlyWhenTheLockIsFree() {
        val members = gather(2)
        core.end(crowd) { assertEquals(List(2) { Waiter.GATHERING }, stateOf(members)) }
        assertEquals(List(2) { Waiter.GRANTED }, stateOf(members))
    }

    @Test
    fun places_countTheWaitersLetInBefore() {
        gather(4)
        core.end(crowd)
        assertEquals(listOf("0 at 0", "1 at 1", "2 at 2", "3 at 3"), log.filter { " at " in it })
    }

    @Test
    fun memberCancelledWhileItGathers_isTakenOut() {
        val members = gather(3)
        core.onWithdraw = crowd::remove
        assertEquals(Waiter.WAITING, members[1].withdraw(Waiter.CANCELLED))
        assertEquals(2, crowd.size)
        core.end(crowd)
        assertEquals(listOf(Waiter.GRANTED, Waiter.CANCELLED, Waiter.GRANTED), stateOf(members))
        assertEquals(listOf(1, 0, 1), members.map { it.resumed })
        assertEquals(listOf("0 at 0", "2 at 1"), log.filter { " at " in it })
    }

    @Test
    fun membersCancelledBetweenTheEndAndTheirTurn_areSkipped_andTheirPlaceIsNotLost() {
        val members = gather(5)
        var endedThen: Boolean? = null
        core.onWithdraw = { endedThen = crowd.hasEnded }
        core.end(crowd) { for (i in listOf(0, 2, 4)) members[i].withdrawUnderTheLock(Waiter.CANCELLED) }
        assertEquals(listOf(0, 1, 0, 1, 0), members.map { it.resumed })
        assertEquals(listOf(Waiter.CANCELLED, Waiter.GRANTED, Waiter.CANCELLED), stateOf(members.take(3)))
        assertEquals(true, endedThen)
        // For each place, the granted member is the last one that got it.
        assertEquals(listOf("1 at 0", "3 at 1"), placesOf(members))
    }

    @Test
    fun failingCrowd_failsItsMembersWithTheReason_andTellsNoPlaces() {
        val members = gather(3)
        core.end(crowd, reason = "broken") { members[1].withdrawUnderTheLock(Waiter.CANCELLED) }
        assertEquals(listOf(Waiter.FAILED, Waiter.CANCELLED, Waiter.FAILED), stateOf(members))
        assertEquals(listOf(1, 0, 1), members.map { it.failed })
        assertEquals("broken", members[0].outcome)
        assertEquals(listOf<Any?>(0, 1, 2), members.map { it.request })
        assertEquals(0, members.sumOf { it.resumed })
        assertEquals(emptyList<String>(), log)
    }

    @Test
    fun memberThatDoesNotTakeItsGrant_givesItBackOnce() {
        val members = gather(3) { it != 1 }
        core.end(crowd)
        assertEquals(1, core.takenBack)
        assertSame(members[1], core.lastTakenBack)
        assertEquals(listOf(1, 0, 1), members.map { it.resumed })
    }

    @Test
    fun membersAfterTheEnd_keepNoNeighbourAlive() {
        val members = gather(4)
        core.end(crowd) { members[2].withdrawUnderTheLock(Waiter.CANCELLED) }
        for (member in members) {
            assertNull(member.previous)
            assertNull(member.next)
            assertNull(member.chain)
            assertNull(member.queue)
        }
    }

    @Test
    fun crowd_withAnyNumberOfMembersLeft_isWokenWhereItStands() {
        val ends = listOf(Waiter.TIMED_OUT, Waiter.CANCELLED)
        for ((size, left) in listOf(0 to 0, 2 to 0, 2 to 1, 2 to 2)) {
            val crowd = LoggingCrowd()
            val members = List(size) { i -> FakeWaiter(core) { log += "runs $i" }.also { gather(it, crowd) } }
            val behind = FakeWaiter(core) { log += "runs behind" }
            check(behind.startWaiting())
            log.clear()
            core.end(crowd, behind = behind) {
                members.drop(left).forEachIndexed { i, member -> member.withdrawUnderTheLock(ends[i]) }
            }
            assertTrue(crowd.hasEnded)
            assertEquals(listOf("runs 0", "runs 1").take(left) + "runs behind", log.filter { it.startsWith("runs") })
            assertEquals(ends.take(size - left), stateOf(members).drop(left))
        }
    }

    private fun placesOf(members: List<Waiter>) =
        log.filter { entry ->
            " at " in entry && members[entry.substringBefore(" ").toInt()].currentState == Waiter.GRANTED
        }

    /** As a canceller that comes between the end and the walk; it gets the lock only after that. */
    private fun Waiter.withdrawUnderTheLock(to: Int) {
        assertEquals(Waiter.WAITING, withdraw(to))
    }

    private inner class LoggingCrowd : WaiterBatch() {
        override fun admit(member: Waiter, place: Int) {
            log += "${member.request} at $place"
        }
    }
}
