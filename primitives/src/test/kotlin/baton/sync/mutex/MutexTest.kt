package baton.sync.mutex

import baton.sync.Mutex
import baton.waiting.contract.SuspendingWaiterDispatch
import baton.waiting.contract.WaiterDispatch
import baton.waiting.contract.WaiterTimeouts
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class KotlinMutexTest : MutexContract(::KotlinMutexFace), WaiterTimeouts, SuspendingWaiterDispatch, MutexRunTwice

class SelectMutexTest : MutexContract(::SelectMutexFace), WaiterTimeouts, WaiterDispatch, MutexHostility

class MixedMutexTest : MutexContract(::MixedMutexFace), WaiterTimeouts, WaiterDispatch, MutexHostility

class MutexMessagesTest {
    private fun refusal(mutex: Mutex, owner: Any? = null) =
        assertThrows<IllegalStateException> { mutex.unlock(owner) }.message

    @Test
    fun unlockByAnEqualOwner_wasSaidToBeRefusedToTheHolderItself() {
        val mutex = Mutex(name = "m")
        mutex.tryLock(listOf(7))
        val said = refusal(mutex, listOf(7))
        assertEquals("unlock by [7] of Mutex 'm', which is locked by another object that reads the same", said)
        assertEquals(listOf(7), mutex.holder)
    }

    @Test
    fun unlock_byWhoDoesNotHoldIt_saysWhoAskedAndHowItIsLocked() {
        val mutex = Mutex(name = "account")
        assertEquals("unlock by Ann of Mutex 'account', which is not locked", refusal(mutex, "Ann"))
        assertEquals("unlock of Mutex 'account', which is not locked", refusal(mutex))
        mutex.tryLock("Bob")
        assertEquals("unlock by Ann of Mutex 'account', which is locked by Bob", refusal(mutex, "Ann"))
        assertEquals("unlock without an owner of Mutex 'account', which is locked by Bob", refusal(mutex))
        mutex.unlock("Bob")
        mutex.tryLock()
        assertEquals("unlock by Ann of Mutex 'account', which is locked without an owner", refusal(mutex, "Ann"))
    }
}
