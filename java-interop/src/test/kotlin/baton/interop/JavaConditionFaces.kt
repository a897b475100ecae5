package baton.interop

import baton.sync.Condition
import baton.sync.Mutex
import baton.sync.condition.ConditionContract
import baton.sync.condition.ConditionFace
import baton.sync.condition.ConditionFactory
import baton.sync.condition.KotlinConditionFace
import baton.sync.mutex.KotlinMutexFace
import baton.sync.mutex.MutexFace
import kotlin.time.Duration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.future.await
import kotlinx.coroutines.withContext

/** A mutex whose lock yields a permit. The next unlock by the same owner closes it, or the next await consumes it. */
private class PermitMutexFace(mutex: Mutex) : MutexFace by KotlinMutexFace(mutex) {
    private val java = AsyncMutex.of(mutex)
    private val permits = mutableListOf<Pair<Any?, Permit>>()

    fun add(owner: Any?, permit: Permit) {
        permits += owner to permit
    }

    fun take(owner: Any?): Permit? = permits.firstOrNull { it.first === owner }?.also { permits -= it }?.second

    override suspend fun lock(owner: Any?) = add(owner, java.ownedByOrNull(owner).lock().await())

    override fun tryLock(owner: Any?): Boolean {
        val permit = java.ownedByOrNull(owner).tryLock()
        permit.ifPresent { add(owner, it) }
        return permit.isPresent
    }

    override fun unlock(owner: Any?) = take(owner)?.close() ?: java.kotlin().unlock(owner)

    override fun toString() = java.toString()
}

/** Waits with futures. A cancelled coroutine locks the mutex again itself, because a cancelled future does not. */
class JavaConditionFace(kotlin: Condition) : ConditionFace {
    constructor(mutex: String?, name: String?) : this(Mutex(name = mutex).newCondition(name))

    private val condition = AsyncCondition.of(kotlin)
    private val permits = PermitMutexFace(kotlin.mutex)
    private val closed = AsyncMutex.of(kotlin.mutex).lock().join().also { it.close() }

    override val mutex: MutexFace
        get() = permits

    override val waiting: Int
        get() = condition.waiting()

    override suspend fun await() {
        val owner = mutex.holder
        val future = condition.await(permits.take(owner) ?: closed)
        try {
            permits.add(owner, future.await())
        } catch (e: CancellationException) {
            if (!future.isCancelled) permits.add(owner, future.join())
            else withContext(NonCancellable) { mutex.lock(owner) }
            throw e
        }
    }

    override suspend fun await(timeout: Duration): Boolean = throw UnsupportedOperationException("in real time")

    override fun signal() = condition.signal()

    override fun signalAll() = condition.signalAll()

    override fun toString() = condition.toString()
}

/** Futures and suspend functions alternate, in one queue. */
class JavaKotlinConditionFace private constructor(kotlin: KotlinConditionFace, private val java: JavaConditionFace) :
    ConditionFace by java {
    private constructor(condition: Condition) : this(KotlinConditionFace(condition), JavaConditionFace(condition))

    constructor(mutex: String?, name: String?) : this(Mutex(name = mutex).newCondition(name))

    private val faces = listOf(java, kotlin)
    private var turn = 0

    override suspend fun await() = faces[turn++ % faces.size].await()

    override fun toString() = java.toString()
}

/** The mutex comes with the future: a coroutine that is cancelled before it reads the future has used the signal up. */
abstract class JavaConditionContract(factory: ConditionFactory) : ConditionContract(factory) {
    override val passesSignalOn: Boolean
        get() = false
}

class JavaConditionTest : JavaConditionContract(::JavaConditionFace)

class MixedJavaKotlinConditionTest : JavaConditionContract(::JavaKotlinConditionFace)
