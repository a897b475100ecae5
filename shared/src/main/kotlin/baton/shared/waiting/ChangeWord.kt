package baton.shared.waiting

import baton.shared.region.SharedMemory
import baton.shared.region.Words
import baton.shared.word.WakeWord

/** The [WakeWord] of a primitive, at its begin. */
internal class ChangeWord(private val memory: SharedMemory, private val words: Words) {
    /** The word, to sleep on. Read it before the state. */
    val value: Int
        get() = words.getInt(AT)

    /** The number of changes so far. */
    val count: Int
        get() = WakeWord.changesOf(value)

    fun newPoll() = WordPoll(memory, words, AT, WakeWord::withWaiters)

    fun newWatch() = WordWatch(memory, words, AT, WakeWord::withWaiters)

    /** The state has changed: all waiters, in all processes, look again. */
    fun announce() = change(Int.MAX_VALUE, WakeWord::changed)

    /** As [announce], but wakes one sleeper alone; the others look again at the end of their slice. */
    fun signal() = change(wakes = 1, WakeWord::signalled)

    private inline fun change(wakes: Int, next: (Int) -> Int) {
        while (true) {
            val word = words.getInt(AT)
            if (!words.casInt(AT, word, next(word))) continue
            if (WakeWord.hasWaiters(word)) memory.wake(words, AT, wakes)
            return
        }
    }

    private companion object {
        const val AT = 0
    }
}
