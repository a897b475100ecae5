package baton.waiting.keys

import baton.InternalBatonApi
import baton.waiting.nameOf
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle

/**
 * The object of one key of a [KeyTable], and its uses in one word, whose states [KeyTable] describes. Its text is the
 * name of the object in messages.
 */
@InternalBatonApi
public class KeyEntry<T : Any> internal constructor(private val table: KeyTable<*, T>, internal val key: Any) {
    @Volatile @JvmField internal var word: Long = UNQUEUED or 1L

    /** A number that no other entry of the table has; of an entry that may linger, the time of its last use. */
    @Volatile @JvmField internal var stamp: Long = 0

    /** It is not idle before this time. Guarded by the lock of the [IdleKeys]. */
    @JvmField internal var idleFrom: Long = 0

    @JvmField public val value: T = table.make(this)

    /** Ends a lease, once for each [KeyTable.lease]. Returns whether that has forgotten this. */
    public fun end(): Boolean = table.end(this)

    /** Begins another use; false if the table has forgotten this. */
    internal fun tryLease(): Boolean {
        while (true) {
            val seen = word
            if (seen == FORGOTTEN) return false
            if (compareAndSet(seen, (seen and USES.inv()) + 1 or (seen + USE and USES))) return true
        }
    }

    internal fun compareAndSet(expected: Long, new: Long): Boolean = WORD.compareAndSet(this, expected, new)

    override fun toString(): String = table.nameOfKey(nameOf(key))

    internal companion object {
        const val FORGOTTEN = -1L

        /** Set while the entry is in no [IdleKeys]: the thread that ends its last lease enqueues it. */
        const val UNQUEUED = 1L shl 62

        const val USE = 1L shl Int.SIZE_BITS

        /** Bits 32 to 61. */
        const val USES = UNQUEUED - USE

        private const val LEASES = USE - 1

        private val WORD: VarHandle =
            MethodHandles.lookup().findVarHandle(KeyEntry::class.java, "word", Long::class.javaPrimitiveType)

        fun leasesIn(word: Long): Long = word and LEASES
    }
}
