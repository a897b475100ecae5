package baton.shared.waiting

import baton.shared.region.SharedMemory
import baton.shared.region.Words
import baton.waiting.ThreadWaiter
import java.util.concurrent.atomic.AtomicReference
import kotlinx.coroutines.CompletableDeferred

/**
 * The wait of many coroutines of this process for one word, each with a condition of its own. One of them, the leader,
 * waits for the word by a [WordPoll]; the others wait for the leader, so that the coroutines of a process have one
 * sleeper for the word. Each thread that blocks has a [WordPoll] of its own.
 * 1. [round] is not null while there is a leader. It is completed when the leader finds that the word has changed, and
 *    when the leader leaves; the followers then look again, and one of them leads if no leader is left.
 * 2. A follower waits only for a round that it read before it found the word unchanged. The leader of that round looked
 *    at the word before that, or will do so before it waits: so no follower misses a change.
 */
internal class WordWatch(
    private val memory: SharedMemory,
    private val words: Words,
    private val offset: Int,
    private val withWaiters: (Int) -> Int,
) {
    private val round = AtomicReference<CompletableDeferred<Unit>>()

    /**
     * Waits until [look] returns a value, and returns it. [look] reads what changes before the word does. [probe] looks
     * for the dead, at most every 25 ms; it changes the word if it has changed anything else.
     *
     * @throws baton.shared.SharedRegionException if the region has ended.
     */
    suspend fun <T : Any> await(probe: () -> Unit, look: () -> T?): T {
        while (true) {
            memory.check()
            val seen = words.getInt(offset)
            look()?.let {
                return it
            }
            val current = round.get()
            if (current == null) {
                val mine = CompletableDeferred<Unit>()
                if (round.compareAndSet(null, mine)) return lead(mine, probe, look)
            } else if (words.getInt(offset) == seen) {
                current.await()
            }
        }
    }

    /**
     * As [await], for a thread that may block for [nanos] at most; null after that.
     *
     * @throws InterruptedException if the thread is interrupted.
     */
    fun <T : Any> awaitBlocking(nanos: Long, probe: () -> Unit, look: () -> T?): T? {
        ThreadWaiter.throwIfInterrupted()
        memory.check()
        val deadline = System.nanoTime() + nanos
        return WordPoll(memory, words, offset, withWaiters).awaitBlocking(deadline, probe, look)
    }

    private suspend fun <T : Any> lead(first: CompletableDeferred<Unit>, probe: () -> Unit, look: () -> T?): T {
        var current = first
        try {
            val poll = WordPoll(memory, words, offset, withWaiters)
            while (true) {
                val seen = words.getInt(offset)
                look()?.let {
                    return it
                }
                if (poll.isProbeDue()) probe()
                poll.pause(seen)
                if (words.getInt(offset) != seen) {
                    val next = CompletableDeferred<Unit>()
                    round.set(next)
                    current.complete(Unit)
                    current = next
                }
            }
        } finally {
            round.set(null)
            current.complete(Unit)
        }
    }
}
