package baton.sync.readwrite.contract

import baton.hostile.Exclusion
import baton.hostile.HostileCase
import baton.hostile.HostileCrowd
import baton.sync.ReadWritePolicy
import baton.sync.mutex.MutexHostility
import baton.sync.readwrite.assertFree
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ArgumentsSource

/** As [MutexHostility]: every second one of each kind writes. */
interface ReadWriteHostility : ReadWriteFixture {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.Once::class)
    fun lock_hostileDispatcher_writerIsAloneAndOthersAreServed(case: HostileCase) = handOver(case)

    fun handOver(case: HostileCase) {
        for (policy in ReadWritePolicy.entries) {
            handOver(case, policy) { null }
            handOver(case, policy) { it }
        }
    }

    private fun handOver(case: HostileCase, policy: ReadWritePolicy, ownerOf: (name: String) -> Any?) {
        val lock = lock(policy)
        check(lock.tryLockWrite())
        val crowd = HostileCrowd(case)
        val exclusion = Exclusion(WRITER)
        crowd.pairs(4) {
            val access = if (name.last().digitToInt() % 2 == 0) Access.READ else Access.WRITE
            val weight = if (access == Access.WRITE) WRITER else 1
            repeat(2) {
                access.lock(lock, ownerOf(name))
                exclusion.enter(weight)
                pause()
                exclusion.leave(weight)
                access.unlock(lock, ownerOf(name))
            }
        }
        crowd.unleash(onLost = { unlockForALostOne(lock) }) { lock.unlockWrite() }
        exclusion.assertHeld()
        crowd.assertEnds()
        assertFree(lock)
    }

    private fun unlockForALostOne(lock: ReadWriteLockFace) =
        if (lock.isWriteLocked) lock.unlockWrite(lock.writeHolder) else lock.unlockRead(lock.readHolders.firstOrNull())

    private companion object {
        private const val WRITER = 100
    }
}

/** Each resumption comes twice, the second late; it is ignored. */
interface ReadWriteRunTwice : ReadWriteHostility {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.Twice::class)
    fun lock_taskIsRunTwice_secondRunIsIgnored(case: HostileCase) = handOver(case)
}
