package baton.test.history

import java.util.BitSet

/**
 * Decides whether the calls of a history can have happened one after the other, each at a moment between its begin and
 * its end. The search is that of Wing and Gong (1993): it takes as the next call each one that began before any that is
 * left had ended. As Lowe (2017) does, it remembers which calls were taken and the state that they led to, and follows
 * no such pair twice.
 *
 * A call of unknown outcome may be taken, but need not. It is taken only where it changes the state.
 */
class Linearizability<S : Any, I, O : Any>(private val model: SequentialModel<S, I, O>) {
    private class Node<S>(val taken: BitSet, val state: S)

    /** Null if the history is linearizable; else the longest order that was found, and the calls that do not fit. */
    fun violationOf(history: List<RecordedCall<I, O>>): String? {
        val calls = history.sortedBy { it.begin }
        val required = calls.count { it.output != null }
        val seen = HashSet<Pair<BitSet, S>>()
        val open = ArrayDeque(listOf(Node(BitSet(calls.size), model.initial)))
        var longest = open.first()
        while (open.isNotEmpty()) {
            val node = open.removeLast()
            if (known(calls, node.taken) == required) return null
            if (known(calls, node.taken) > known(calls, longest.taken)) longest = node
            val firstEnd = calls.indices.filterNot(node.taken::get).minOf { calls[it].end }
            for (i in calls.indices.reversed()) {
                if (node.taken[i] || calls[i].begin > firstEnd) continue
                val next = stateAfter(node.state, calls[i]) ?: continue
                val taken = (node.taken.clone() as BitSet).apply { set(i) }
                if (seen.add(taken to next)) open += Node(taken, next)
            }
        }
        val left = calls.filterIndexed { i, _ -> !longest.taken[i] }.take(SHOWN)
        return "not linearizable: after ${longest.taken.cardinality()} of ${calls.size} calls the state is " +
            "${longest.state}, and none of these fits:\n" +
            left.joinToString("\n")
    }

    private fun known(calls: List<RecordedCall<I, O>>, taken: BitSet): Int {
        var count = 0
        var i = taken.nextSetBit(0)
        while (i >= 0) {
            if (calls[i].output != null) count++
            i = taken.nextSetBit(i + 1)
        }
        return count
    }

    private fun stateAfter(state: S, call: RecordedCall<I, O>): S? {
        val output = call.output ?: return model.afterUnknown(state, call.input).takeIf { it != state }
        return model.after(state, call.input, output)
    }

    private companion object {
        const val SHOWN = 20
    }
}
