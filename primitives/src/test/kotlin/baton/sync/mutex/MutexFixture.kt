package baton.sync.mutex

/** What the topics of the mutex's contract have in common. */
interface MutexFixture {
    val factory: MutexFactory

    fun mutex(locked: Boolean = false, name: String? = null): MutexFace = factory(locked, name)
}

/**
 * What a mutex promises, whoever asks: a suspend function, a `select`, a future, or all of them in one queue. It
 * consists of topics: a face that cannot do one of them (say [MutexOwners]) implements the others.
 */
abstract class MutexContract(override val factory: MutexFactory) :
    MutexOrder,
    MutexCancellation,
    MutexOwners
