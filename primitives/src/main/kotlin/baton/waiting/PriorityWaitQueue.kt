package baton.waiting

/** First come, first served inside a level, and between the levels as [BoundedBypass] says. */
internal class PriorityWaitQueue(private val levelOf: (Waiter) -> Int) : WaitQueue() {
    private val levels = Array(BoundedBypass.LEVELS) { FifoWaitQueue() }
    private val turns = BoundedBypass()

    override fun add(waiter: Waiter) {
        levels[levelOf(waiter)].add(waiter)
        size++
    }

    override fun remove(waiter: Waiter) {
        val level = levelOf(waiter)
        levels[level].remove(waiter)
        if (isEmpty(level)) turns.forget(level)
        size--
    }

    override fun head(): Waiter? = if (size == 0) null else levels[turns.next(::isEmpty)].head()

    override fun headBut(selectId: Any): Waiter? {
        val level = turns.next { levels[it].headBut(selectId) == null }
        return if (level < 0) null else levels[level].headBut(selectId)
    }

    override fun served(waiter: Waiter) {
        turns.served(levelOf(waiter), ::isEmpty)
    }

    override fun forEach(action: (Waiter) -> Unit) {
        for (level in levels) level.forEach(action)
    }

    private fun isEmpty(level: Int) = levels[level].size == 0
}
