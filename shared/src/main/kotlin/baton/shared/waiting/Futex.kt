package baton.shared.waiting

import baton.shared.region.WordWait
import baton.shared.region.Words

/** The kernel wakes waiters. */
internal class Futex private constructor(private val calls: FutexCalls) : WordWait {
    /**
     * Timeout of the last sleep, kept because most slices have one length and a timeout takes memory outside the heap.
     */
    @Volatile private var lastTimeout = Timeout(0)

    override val canWake: Boolean
        get() = true

    override fun park(words: Words, offset: Int, expected: Int, nanos: Long) {
        var timeout = lastTimeout
        if (timeout.nanos != nanos) timeout = Timeout(nanos).also { lastTimeout = it }
        calls.sleep(segment(words, offset), expected, timeout.segment)
    }

    private inner class Timeout(val nanos: Long) {
        val segment: Any = calls.timeout(nanos)
    }

    override fun wake(words: Words, offset: Int, count: Int) {
        calls.wake(segment(words, offset), count)
    }

    /** Most words are the first of theirs. */
    private fun segment(words: Words, offset: Int): Any {
        if (offset != 0) return calls.segment(words.bytes().slice(offset, Int.SIZE_BYTES))
        return words.firstSegment ?: calls.segment(words.bytes()).also { words.firstSegment = it }
    }

    companion object {
        /** Null where native access is not enabled, before Java 22, and on other systems than Linux. */
        val ifAvailable: Futex? by lazy { FutexCalls.AVAILABLE?.let(::Futex) }
    }
}
