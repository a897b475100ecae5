package baton.shared.word

/** All states of a model that can be reached, breadth first. */
internal object StateSearch {
    class Size(val states: Int, val steps: Int) {
        override fun toString() = "$states states, $steps steps"
    }

    /** [visit] gets every state once, and whether it is one without a step. */
    fun <S> run(start: S, next: (S) -> List<S>, visit: (S, Boolean) -> Unit): Size {
        val seen = HashSet<S>()
        val queue = ArrayDeque<S>()
        var steps = 0
        seen.add(start)
        queue.addLast(start)
        while (queue.isNotEmpty()) {
            val state = queue.removeFirst()
            val followers = next(state)
            visit(state, followers.isEmpty())
            steps += followers.size
            for (follower in followers) if (seen.add(follower)) queue.addLast(follower)
        }
        return Size(seen.size, steps)
    }
}
