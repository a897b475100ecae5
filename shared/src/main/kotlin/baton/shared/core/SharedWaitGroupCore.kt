package baton.shared.core

import baton.shared.AbandonedException
import baton.shared.counts.MemberCounts
import baton.shared.region.RegionMember
import baton.shared.region.SharedMemory
import baton.shared.region.SharedObject
import baton.shared.word.CountsWord
import baton.waiting.ThreadWaiter

/**
 * [MemberCounts], whose total is the count of the group.
 *
 * ```
 * +0 .. +15 of MemberCounts     +16 u32 number of losses of which a caller was told
 * ```
 * 1. An add counts for this member. A done takes 1 off this member; if it has none, off the member in the lowest slot
 *    that has one. So no count is negative, and their sum is the additions without the dones and the losses.
 * 2. A loss sets LOST in the word, in the step that takes off the counts of the dead. The first caller that sees LOST
 *    clears it and throws, so that no loss goes unreported, and none is reported to a call that begins later.
 * 3. That caller adds 1 at +16 before it clears LOST. A caller that finds another number there than at its begin has
 *    waited during the loss, and throws as well.
 */
internal class SharedWaitGroupCore(
    private val memory: SharedMemory,
    private val shared: SharedObject,
    val name: String,
) : RegionMember {
    private val counts = MemberCounts(memory, shared)
    private val watch = counts.changes.newWatch()

    val count: Int
        get() = counts.total

    fun countNow(): Int {
        memory.check()
        return count
    }

    fun add(n: Int) {
        require(n >= 1) { "n = $n, must be at least 1" }
        if (!counts.tryAdd(n, CountsWord.MAX_COUNT)) {
            throw IllegalStateException(
                "add of n = $n, the count would be above ${CountsWord.MAX_COUNT}: ${describe()}"
            )
        }
    }

    fun done() {
        if (!counts.tryRemoveOneOfAny()) throw IllegalStateException("done without add: the count of $this is zero")
    }

    suspend fun await() {
        memory.check()
        val told = timesTold()
        watch.await({ counts.takeOffDead() }) { lookForZero(told) }
    }

    /** False when [nanos] are over. */
    fun awaitBlocking(nanos: Long): Boolean {
        ThreadWaiter.throwIfInterrupted()
        if (nanos <= 0) return isZeroNow()
        memory.check()
        val told = timesTold()
        return watch.awaitBlocking(nanos, { counts.takeOffDead() }) { lookForZero(told) } != null
    }

    fun isZeroNow(): Boolean {
        memory.check()
        val told = timesTold()
        if (lookForZero(told) != null) return true
        counts.takeOffDeadNowAndThen()
        return lookForZero(told) != null
    }

    /** @throws AbandonedException if there was a loss since the group was [told] that often. */
    private fun lookForZero(told: Int): Unit? {
        val isTold = timesTold() != told
        if (isTold || tellLoss(told)) throw AbandonedException("a process with work in $this died before it was done")
        return if (count == 0) Unit else null
    }

    private fun tellLoss(told: Int): Boolean {
        if (!counts.isLost) return false
        shared.words.casInt(TOLD, told, told + 1)
        counts.clearLost()
        counts.changes.announce()
        return true
    }

    private fun timesTold(): Int = shared.words.getInt(TOLD)

    override fun regionEnded(isUsable: Boolean) {
        counts.end(isUsable)
    }

    fun describe(): String = if (memory.isOpen) "$this (count = $count)" else "$this (ended)"

    override fun toString(): String = "SharedWaitGroup '$name' of ${memory.path}"

    private companion object {
        const val TOLD = 16
    }
}
