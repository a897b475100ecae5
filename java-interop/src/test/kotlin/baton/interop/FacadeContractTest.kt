package baton.interop

import baton.sync.barrier.BarrierContract
import baton.sync.mutex.MutexContract
import baton.sync.readwrite.contract.ReadWriteContract
import baton.sync.readwrite.contract.ReadWriteLockFactory
import baton.sync.semaphore.contract.SemaphoreContract
import kotlin.time.Duration.Companion.days

// Left out: timeouts in virtual time, because a java.time.Duration uses the clock of the process; and the topic of
// dispatchers, because kotlinx's `await` handles them.

class JavaSemaphoreTest : SemaphoreContract(::JavaSemaphoreFace)

class JavaMutexTest : MutexContract(::JavaMutexFace)

class PatientJavaSemaphoreTest :
    SemaphoreContract({ permits, acquired, order, name -> JavaSemaphoreFace(permits, acquired, order, name, 1.days) })

class PatientJavaMutexTest : MutexContract({ locked, name -> JavaMutexFace(locked, name, 1.days) })

class MixedJavaKotlinSemaphoreTest : SemaphoreContract(::JavaKotlinSemaphoreFace)

class MixedJavaKotlinMutexTest : MutexContract(::JavaKotlinMutexFace)

class JavaReadWriteLockTest : JavaReadWriteContract(::JavaReadWriteLockFace)

class PatientJavaReadWriteLockTest :
    JavaReadWriteContract({ policy, name -> JavaReadWriteLockFace(policy, name, 1.days) })

class MixedJavaKotlinReadWriteLockTest : ReadWriteContract(::JavaKotlinReadWriteLockFace)

/** A grant stays in its future: a coroutine that is cancelled before it reads the future holds a write permit. */
abstract class JavaReadWriteContract(factory: ReadWriteLockFactory) : ReadWriteContract(factory) {
    override fun cancel_upgradedButNotRunYet_stillReadsUpgradably() = Unit

    override fun cancel_upgradedButNotRunYetAndAWriterWaits_writerComesInOnlyThen() = Unit
}

class JavaBarrierTest : BarrierContract(::JavaBarrierFace)

class MixedJavaKotlinBarrierTest : BarrierContract(::JavaKotlinBarrierFace)
