package baton.sync.mutex

import baton.sync.assertState
import baton.waiting.contract.WaiterContract
import baton.waiting.contract.WaiterFixture
import baton.waiting.contract.WaitingKind
import baton.waiting.contract.WaitingPlace
import kotlin.time.Duration
import org.junit.jupiter.api.Assertions.assertEquals

/** The common part of the topics of the mutex's contract. */
interface MutexFixture : WaiterFixture {
    val factory: MutexFactory

    fun mutex(locked: Boolean = false, name: String? = null): MutexFace = factory(locked, name)

    override val waitingKinds: List<WaitingKind>
        get() =
            listOf(false, true).map { isOwned ->
                WaitingKind(if (isOwned) "lock(owner)" else "lock()") { MutexPlace(mutex(locked = true), isOwned) }
            }
}

/** Locked without an owner at first. If it [isOwned] later, then each caller is an owner of its own. */
class MutexPlace(private val mutex: MutexFace, private val isOwned: Boolean) : WaitingPlace {
    private var isGranted = false

    private fun owner(): Any? = if (isOwned) Any() else null

    override val waiting: Int
        get() = mutex.waiting

    override suspend fun waitHere() = mutex.lock(owner())

    override suspend fun waitHere(timeout: Duration) = mutex.tryLock(timeout, owner())

    override fun grant() {
        mutex.unlock(mutex.holder)
        isGranted = true
    }

    override fun assertIdle(holders: Int) {
        assertState(mutex, isLocked = !isGranted || holders > 0)
        assertEquals(isOwned && holders > 0, mutex.holder != null)
        if (mutex.isLocked) grant()
        assertState(mutex, isLocked = false)
    }
}

/**
 * The contract of a mutex for every kind of caller: a suspend function, a `select`, a future, or all in one queue. It
 * consists of topics: an API that cannot do one of them (say [MutexOwners]) implements the others.
 */
abstract class MutexContract(override val factory: MutexFactory) : WaiterContract, MutexOrder, MutexOwners
