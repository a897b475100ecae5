package baton.shared.waiting

import baton.shared.region.SharedMemory
import baton.shared.region.Words
import baton.shared.word.WakeWord

/** The [WakeWord] of a primitive, at its begin. */
internal class ChangeWord(private val memory: SharedMemory, private val words: Words) {
    /** The number of changes so far. Read it before the state. */
    val value: Int
        get() = words.getInt(AT)

    fun newPoll() = WordPoll(memory, words, AT, WakeWord::withWaiters)

    fun newWatch() = WordWatch(memory, words, AT, WakeWord::withWaiters)

    /** The state has changed: all waiters, in all processes, look again. */
    fun announce() {
        while (true) {
            val word = words.getInt(AT)
            if (!words.casInt(AT, word, WakeWord.changed(word))) continue
            if (WakeWord.hasWaiters(word)) memory.wake(words, AT, Int.MAX_VALUE)
            return
        }
    }

    private companion object {
        const val AT = 0
    }
}
