package baton.waiting.holders

/**
 * Whether locks are to know their callers, to boost them ([Boosts]) or to find deadlocks ([DeadlockDetection]). Until
 * then a call has no caller, `by == null`, and pays one read of a field.
 */
internal object KnownCallers {
    @Volatile @JvmField var areWanted: Boolean = java.lang.Boolean.getBoolean("baton.deadlocks")

    /** For good. */
    fun begin() {
        areWanted = true
    }
}
