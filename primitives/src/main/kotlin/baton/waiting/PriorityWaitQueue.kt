package baton.waiting

/** First in, first out inside a level; [BoundedBypass] selects the level. */
internal class PriorityWaitQueue(private val levelOf: (Waiter) -> Int) : WaitQueue() {
    private val levels = Array(BoundedBypass.LEVELS) { FifoWaitQueue() }
    private val bypass = BoundedBypass()

    override fun add(waiter: Waiter) {
        levels[levelOf(waiter)].add(waiter)
        size++
    }

    override fun remove(waiter: Waiter) {
        val level = levelOf(waiter)
        levels[level].remove(waiter)
        if (isEmpty(level)) bypass.forget(level)
        size--
    }

    override fun contains(waiter: Waiter): Boolean = levels.any { it.contains(waiter) }

    override fun head(): Waiter? = if (size == 0) null else levels[bypass.next(::isEmpty)].head()

    override fun headBut(selectId: Any): Waiter? {
        val level = bypass.next { levels[it].headBut(selectId) == null }
        return if (level < 0) null else levels[level].headBut(selectId)
    }

    override fun served(waiter: Waiter) {
        bypass.served(levelOf(waiter), ::isEmpty)
    }

    override fun forEach(action: (Waiter) -> Unit) {
        for (level in levels) level.forEach(action)
    }

    override fun forFirst(limit: Int, action: (Waiter) -> Unit) {
        for (level in levels) level.forFirst(limit, action)
    }

    private fun isEmpty(level: Int) = levels[level].size == 0
}
