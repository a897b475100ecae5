package baton.interop.blocking

import baton.callBlockingOfAnyKotlinx as runBlocking
import baton.interop.AsyncCondition
import baton.interop.AsyncMutex
import baton.interop.JavaConditionFace
import baton.sync.Condition
import baton.sync.Mutex
import baton.sync.condition.ConditionFace
import baton.sync.condition.KotlinConditionFace
import baton.sync.mutex.KotlinMutexFace
import baton.sync.mutex.MutexFace
import java.util.concurrent.Callable
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Executors

/**
 * Each caller that locks has a thread, which owns the mutex and awaits the signal. The contract signals and unlocks in
 * its name. Without the mutex an await is that of Kotlin, whose exception the contract expects.
 *
 * If it is mixed, a thread locks by a future, whose permit the Java API's await needs, and awaits by each API in turn.
 */
internal class BlockingConditionFace(private val condition: Condition, private val isMixed: Boolean = false) :
    ConditionFace by KotlinConditionFace(condition) {
    constructor(mutex: String?, name: String?) : this(Mutex(name = mutex).newCondition(name))

    private val blocking = AsyncCondition.of(condition).blocking()
    private val java = JavaConditionFace(condition)
    private val others = Turns(isMixed, java, KotlinConditionFace(condition))

    /** The mutex is read first: a waiter that moves to it meanwhile, from the condition, must not count twice. */
    private val calls = ThreadCalls { condition.mutex.waiting + condition.waiting }
    private val holders = ConcurrentHashMap<Thread, Holder>()

    private class Holder(val owner: Any?) {
        val worker = Executors.newSingleThreadExecutor(Threads::unstarted)
    }

    private val holder: Holder?
        get() = condition.mutex.holder?.let(holders::get)

    override val mutex: MutexFace =
        object : MutexFace by KotlinMutexFace(condition.mutex) {
            private val lock = AsyncMutex.of(condition.mutex).blocking()

            override val holder: Any?
                get() = this@BlockingConditionFace.holder?.owner

            private fun register(owner: Any?) =
                Holder(owner).apply { worker.execute { holders[Thread.currentThread()] = this } }

            override suspend fun lock(owner: Any?) =
                register(owner).worker.let { worker ->
                    try {
                        calls.call(undo = { unlock(owner) }, worker, ::lockHere)
                    } catch (e: Throwable) {
                        worker.shutdown()
                        throw e
                    }
                }

            private fun lockHere() {
                if (isMixed) runBlocking { java.mutex.lock(Thread.currentThread()) } else lock.lockInterruptibly()
            }

            private fun tryLockHere() = if (isMixed) java.mutex.tryLock(Thread.currentThread()) else lock.tryLock()

            override fun tryLock(owner: Any?): Boolean =
                register(owner).worker.run {
                    submit(Callable(::tryLockHere)).get().also { locked -> if (!locked) shutdown() }
                }

            override fun unlock(owner: Any?) {
                val worker = this@BlockingConditionFace.holder!!.worker
                calls.step { condition.mutex.unlock(condition.mutex.holder) }
                worker.shutdown()
            }
        }

    override suspend fun await() {
        val holder = holder ?: return condition.await()
        val other = others.next()
        calls.call(undo = {}, holder.worker) { if (other == null) blocking.await() else runBlocking { other.await() } }
    }

    override fun signal() = calls.step(condition::signal)

    override fun signalAll() = calls.step(condition::signalAll)

    override fun toString() = blocking.toString()
}
