package baton.sync.countdown

import baton.sync.Latch
import baton.sync.WaitGroup
import baton.waiting.contract.SuspendingWaiterDispatch
import baton.waiting.contract.WaiterDispatch
import baton.waiting.contract.WaiterTimeouts
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class KotlinLatchTest :
    CountdownContract(::KotlinLatchFace), WaiterTimeouts, SuspendingWaiterDispatch, CountdownRunTwice

class SelectLatchTest : CountdownContract(::SelectLatchFace), WaiterTimeouts, WaiterDispatch, CountdownHostility

private fun mixed(latch: Latch) = MixedCountdownFace(listOf(KotlinLatchFace(latch), SelectLatchFace(latch)))

class MixedLatchTest :
    CountdownContract({ count, name -> mixed(Latch(count, name)) }), WaiterTimeouts, WaiterDispatch, CountdownHostility

class KotlinWaitGroupTest :
    WaitGroupContract(::KotlinWaitGroupFace), WaiterTimeouts, SuspendingWaiterDispatch, CountdownRunTwice

class SelectWaitGroupTest :
    WaitGroupContract(::SelectWaitGroupFace), WaiterTimeouts, WaiterDispatch, CountdownHostility

private fun mixed(group: WaitGroup) = MixedWaitGroupFace(listOf(KotlinWaitGroupFace(group), SelectWaitGroupFace(group)))

class MixedWaitGroupTest :
    WaitGroupContract({ count, name -> mixed(waitGroup(count, name)) }),
    WaiterTimeouts,
    WaiterDispatch,
    CountdownHostility

/** Tests of the Kotlin API alone, of a latch or of a group. */
class CountdownTest {
    @Test
    fun latch_negativeCount_isRefusedNamingIt() {
        for (count in listOf(Int.MIN_VALUE, -1)) {
            val refusal = assertThrows<IllegalArgumentException> { Latch(count) }
            assertTrue("count = $count" in refusal.message!! && "0" in refusal.message!!, refusal.message)
        }
        for (count in listOf(0, 1, Int.MAX_VALUE)) assertEquals(count, Latch(count).count)
    }

    @Test
    fun toString_withAndWithoutName_isOneShortLine() {
        assertEquals("Latch 'ready' (count = 2, waiting = 0)", "${Latch(2, "ready")}")
        assertEquals("Latch 'ready' (open)", "${Latch(0, "ready")}")
        assertEquals("Latch (open)", "${Latch(0)}")
        assertEquals("WaitGroup 'uploads' (count = 3, waiting = 0)", "${waitGroup(3, "uploads")}")
        assertEquals("WaitGroup (count = 0, waiting = 0)", "${WaitGroup()}")
    }
}
