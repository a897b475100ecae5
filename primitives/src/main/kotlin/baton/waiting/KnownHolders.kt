package baton.waiting

/**
 * A caller that waits for a lock or holds it, where the lock is to know it. The package `holders` has what is known.
 */
internal abstract class KnownCaller {
    /** The note of its wait, if it has one. */
    @JvmField var wait: WaitNote? = null
}

/** The known holders of a core. */
internal abstract class KnownHolders : Wakeup() {
    /** Called at the end of a decision: whether the deciding thread has work to do, which is to wake this first. */
    abstract fun isDue(): Boolean
}
