package baton.sync.mutex

import baton.sync.Mutex
import kotlin.time.Duration
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select

/** The suspend functions. */
class KotlinMutexFace(private val mutex: Mutex) : MutexFace {
    constructor(locked: Boolean, name: String?) : this(Mutex(locked, name))

    override val isLocked: Boolean
        get() = mutex.isLocked

    override val holder: Any?
        get() = mutex.holder

    override val waiting: Int
        get() = mutex.waiting

    override suspend fun lock(owner: Any?) = mutex.lock(owner)

    override fun tryLock(owner: Any?) = mutex.tryLock(owner)

    override suspend fun tryLock(timeout: Duration, owner: Any?) = mutex.tryLock(timeout, owner)

    override fun unlock(owner: Any?) = mutex.unlock(owner)

    override fun toString() = mutex.toString()
}

/** All waiters of the lock wait in a `select`. */
class SelectMutexFace(private val mutex: Mutex) : MutexFace by KotlinMutexFace(mutex) {
    constructor(locked: Boolean, name: String?) : this(Mutex(locked, name))

    override suspend fun lock(owner: Any?) = select { mutex.onLock(owner) {} }

    override suspend fun tryLock(timeout: Duration, owner: Any?): Boolean = select {
        mutex.onLock(owner) { true }
        onTimeout(timeout) { false }
    }

    override fun toString() = mutex.toString()
}

/** Suspend functions and `select` alternate, in one queue. */
class MixedMutexFace(private val mutex: Mutex) : MutexFace by KotlinMutexFace(mutex) {
    constructor(locked: Boolean, name: String?) : this(Mutex(locked, name))

    private val faces = listOf(KotlinMutexFace(mutex), SelectMutexFace(mutex))
    private var turn = 0

    private fun next() = faces[turn++ % faces.size]

    override suspend fun lock(owner: Any?) = next().lock(owner)

    override suspend fun tryLock(timeout: Duration, owner: Any?) = next().tryLock(timeout, owner)

    override fun toString() = mutex.toString()
}
