package baton.shared.waiting

import baton.shared.region.SharedMemory
import baton.shared.region.Words
import baton.waiting.ThreadWaiter
import baton.waiting.threads.StallWatch
import baton.waiting.threads.Timeouts
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import kotlinx.coroutines.CompletableDeferred

/**
 * The wait of many coroutines of this process for one word, each with a condition of its own. One of them, the leader,
 * waits for the word by a [WordPoll]; the others wait for the leader, so that the coroutines of a process have one
 * sleeper for the word. Each thread that blocks has a [WordPoll] of its own.
 * 1. [round] is not null while there is a leader. It is completed when the leader finds that the word has changed, when
 *    the leader leaves, and when it is deposed; the followers then look again, and one of them leads if no leader is
 *    left.
 * 2. A follower waits only for a round that it read before it found the word unchanged. The leader of that round looked
 *    at the word before that, or will do so before it waits: so no follower misses a change.
 * 3. The leader runs on its own dispatcher, which may stop, or be blocked by other code. While there are followers, a
 *    [StallWatch] checks that the leader goes on, and deposes one that has made no step for [STALL_MILLIS]. It runs on
 *    the system's clock, whatever the clock of a dispatcher is, and ends when the last follower has left.
 * 4. [round] changes by compare-and-set alone, the leader's from its own round. So a deposed leader that goes on after
 *    all changes nothing: it finds that out at its next step, and looks and follows as any other. It may wait for the
 *    word beside its successor until then.
 */
internal class WordWatch(
    private val memory: SharedMemory,
    private val words: Words,
    private val offset: Int,
    private val withWaiters: (Int) -> Int,
) {
    private class Round {
        val end = CompletableDeferred<Unit>()
        val followers = AtomicInteger()

        /** How far the leader has come; written by the leader alone. */
        @Volatile var steps = 0

        fun progress() = Progress(this, steps)
    }

    private data class Progress(val round: Round, val steps: Int)

    private val round = AtomicReference<Round>()

    /** Of the leader, while it has followers. */
    private val leaderWatch =
        object : StallWatch<Progress>(STALL_MILLIS) {
            override fun progress() = round.get()?.takeIf { it.followers.get() > 0 }?.progress()

            override fun onStall(progress: Progress) = depose(progress.round)
        }

    /** Whether a timer looks at the leader. */
    val isLeaderWatched: Boolean
        get() = leaderWatch.isActive

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
                val mine = Round()
                if (!round.compareAndSet(null, mine)) continue
                lead(mine, probe, look)?.let {
                    return it
                }
            } else if (words.getInt(offset) == seen) {
                follow(current)
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

    /** Returns null when this leader was deposed. */
    private suspend fun <T : Any> lead(first: Round, probe: () -> Unit, look: () -> T?): T? {
        var current = first
        try {
            val poll = WordPoll(memory, words, offset, withWaiters)
            while (round.get() === current) {
                current.steps++
                val seen = words.getInt(offset)
                look()?.let {
                    return it
                }
                if (poll.isProbeDue()) probe()
                poll.pause(seen)
                if (words.getInt(offset) != seen) {
                    val next = Round()
                    if (!round.compareAndSet(current, next)) break
                    current.end.complete(Unit)
                    current = next
                }
            }
            poll.leave()
            return null
        } finally {
            round.compareAndSet(current, null)
            current.end.complete(Unit)
        }
    }

    private suspend fun follow(current: Round) {
        current.followers.incrementAndGet()
        try {
            leaderWatch.begin(current.progress())
            current.end.await()
        } finally {
            current.followers.decrementAndGet()
        }
    }

    /** Its followers go on, and one of them leads. They may run code of users, so not on this thread. */
    private fun depose(stalled: Round) {
        if (round.compareAndSet(stalled, null)) Timeouts.handOver { stalled.end.complete(Unit) }
    }

    private companion object {
        /** Above the longest slice of a [WordPoll], and its look for the dead. */
        const val STALL_MILLIS = 100L
    }
}
