package baton.sync.condition

import baton.sync.Condition
import baton.sync.Mutex
import baton.sync.mutex.KotlinMutexFace
import baton.sync.mutex.MutexFace
import kotlin.time.Duration

/** A condition and its mutex as a contract sees them, over any of the APIs. The rules of [MutexFace] hold here, too. */
interface ConditionFace {
    val mutex: MutexFace

    val waiting: Int

    suspend fun await()

    /** In the virtual time of the calling coroutine; only the contract [ConditionTimeouts] calls it. */
    suspend fun await(timeout: Duration): Boolean

    fun signal()

    fun signalAll()

    /** Returns the condition's own string, or a text that contains it. */
    override fun toString(): String
}

/** Makes the condition of a test: the name of its mutex, and its own. */
typealias ConditionFactory = (mutex: String?, name: String?) -> ConditionFace

/** The suspend functions. */
class KotlinConditionFace(private val condition: Condition) : ConditionFace {
    constructor(mutex: String?, name: String?) : this(Mutex(name = mutex).newCondition(name))

    override val mutex = KotlinMutexFace(condition.mutex)

    override val waiting: Int
        get() = condition.waiting

    override suspend fun await() = condition.await()

    override suspend fun await(timeout: Duration) = condition.await(timeout)

    override fun signal() = condition.signal()

    override fun signalAll() = condition.signalAll()

    override fun toString() = condition.toString()
}
