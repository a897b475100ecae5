package baton.shared.waiting

import baton.shared.region.WordWait
import baton.shared.region.Words
import java.util.concurrent.locks.LockSupport

/** Waiters look again by themselves. */
internal object Polling : WordWait {
    override val canWake: Boolean
        get() = false

    override fun park(words: Words, offset: Int, expected: Int, nanos: Long) {
        if (words.getInt(offset) == expected) LockSupport.parkNanos(this, nanos)
    }

    override fun wake(words: Words, offset: Int, count: Int) = Unit
}
