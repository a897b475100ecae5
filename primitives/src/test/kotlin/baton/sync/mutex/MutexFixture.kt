package baton.sync.mutex

/** The common part of the topics of the mutex's contract. */
interface MutexFixture {
    val factory: MutexFactory

    fun mutex(locked: Boolean = false, name: String? = null): MutexFace = factory(locked, name)
}

/**
 * The contract of a mutex for every kind of caller: a suspend function, a `select`, a future, or all in one queue. It
 * consists of topics: an API that cannot do one of them (say [MutexOwners]) implements the others.
 */
abstract class MutexContract(override val factory: MutexFactory) :
    MutexOrder,
    MutexCancellation,
    MutexOwners
