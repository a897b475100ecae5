package baton.shared.word

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

/** The next step of a process. */
internal enum class At {
    LOOK,
    TRY,
    MARK,
    SLEEP,
    ASLEEP,
    PROBE,
    WRITE_FIRST,
    WRITE_SECOND,
    UNLOCK_LOOK,
    UNLOCK,
    WAKE,
    LEAVE_WAKE,
    DONE,
    DEAD,
}

/**
 * @property seen the word as it was last read.
 * @property slept whether it slept in this wait.
 * @property isTold whether its lock is marked as abandoned.
 * @property left how many sections it still runs.
 */
internal data class MutexProcess(
    val at: At,
    val left: Int,
    val seen: Int = 0,
    val slept: Boolean = false,
    val isTold: Boolean = false,
)

/** @property isTorn whether the guarded data are half-written. */
internal data class MutexState(val word: Int, val isTorn: Boolean, val processes: List<MutexProcess>) {
    fun isTornAnnounced() = isTorn && processes.any { it.at == At.WRITE_FIRST && it.isTold }
}

/** Without deaths a sleeper sleeps until a wake, so that a lost wake shows. With them it may also end its slice. */
internal class MutexModel(private val mayDie: Boolean, private val sections: List<Int>) {
    private val sectionSteps = setOf(At.WRITE_FIRST, At.WRITE_SECOND)
    private val owningSteps = sectionSteps + setOf(At.UNLOCK_LOOK, At.UNLOCK)

    private fun ownerOf(index: Int) = MutexWord.owner(index + 1, generation = 1)

    fun start() = MutexState(0, false, sections.map { MutexProcess(At.LOOK, it) })

    fun check(state: MutexState) {
        val owners = state.processes.withIndex().filter { it.value.at in owningSteps }
        assertTrue(owners.size <= 1, "two holders: $state")
        owners.firstOrNull()?.let { assertEquals(ownerOf(it.index), MutexWord.ownerOf(state.word), "$state") }
        if (!mayDie && state.processes.all { it.at == At.DONE || it.at == At.ASLEEP }) {
            assertTrue(state.processes.none { it.at == At.ASLEEP }, "a lost wake: $state")
        }
        val entering = state.processes.firstOrNull { it.at == At.WRITE_FIRST } ?: return
        if (state.isTorn) assertTrue(entering.isTold, "torn without a mark: $state")
    }

    fun next(state: MutexState): List<MutexState> = state.processes.indices.flatMap { next(state, it) }

    private fun next(state: MutexState, index: Int): List<MutexState> {
        val process = state.processes[index]
        if (process.at == At.DONE || process.at == At.DEAD) return emptyList()
        val steps = steps(state, index, process)
        return if (mayDie) steps + state.with(index, process.copy(at = At.DEAD)) else steps
    }

    private fun steps(state: MutexState, index: Int, process: MutexProcess): List<MutexState> =
        when (process.at) {
            At.LOOK -> look(state, index, process)
            At.TRY -> {
                val next = MutexWord.acquired(process.seen, ownerOf(index), process.slept)
                val isMarked = MutexWord.isAbandoned(process.seen)
                cas(state, index, process, next, process.copy(at = At.WRITE_FIRST, isTold = isMarked), At.LOOK)
            }
            At.MARK -> {
                val marked = MutexWord.withWaiters(process.seen)
                cas(state, index, process, marked, process.copy(at = At.SLEEP, seen = marked), At.LOOK)
            }
            At.SLEEP -> {
                val isSame = state.word == process.seen
                val next = if (isSame) process.copy(at = At.ASLEEP, slept = true) else process.copy(at = At.LOOK)
                listOf(state.with(index, next))
            }
            At.ASLEEP -> {
                val leaves = state.with(index, process.copy(at = At.LEAVE_WAKE))
                if (mayDie) listOf(leaves, state.with(index, process.copy(at = At.PROBE))) else listOf(leaves)
            }
            At.PROBE -> probe(state, index, process)
            At.WRITE_FIRST -> listOf(state.with(index, process.copy(at = At.WRITE_SECOND)).copy(isTorn = true))
            At.WRITE_SECOND -> listOf(state.with(index, process.copy(at = At.UNLOCK_LOOK)).copy(isTorn = false))
            At.UNLOCK_LOOK -> listOf(state.with(index, process.copy(at = At.UNLOCK, seen = state.word)))
            At.UNLOCK -> unlock(state, index, process)
            At.WAKE -> wake(state, index, ended(process))
            At.LEAVE_WAKE -> wake(state, index, process.copy(at = At.DONE))
            At.DONE,
            At.DEAD -> emptyList()
        }

    private fun look(state: MutexState, index: Int, process: MutexProcess): List<MutexState> {
        val at =
            when {
                MutexWord.isFree(state.word) -> At.TRY
                MutexWord.hasWaiters(state.word) -> At.SLEEP
                else -> At.MARK
            }
        val steps = listOf(state.with(index, process.copy(at = at, seen = state.word)))
        // A cancelled caller leaves by its next look. One that has not slept has no wake to pass on.
        return steps + state.with(index, process.copy(at = if (process.slept) At.LEAVE_WAKE else At.DONE))
    }

    /** The end of a slice: the owner is asked for by the word that the sleeper saw. */
    private fun probe(state: MutexState, index: Int, process: MutexProcess): List<MutexState> {
        val slot = MutexWord.slotOf(process.seen)
        if (slot == 0 || state.processes[slot - 1].at != At.DEAD) {
            return listOf(state.with(index, process.copy(at = At.LOOK)))
        }
        val next = MutexWord.takenOver(ownerOf(index))
        return cas(state, index, process, next, process.copy(at = At.WRITE_FIRST, isTold = true), At.LOOK)
    }

    /** Marks the data consistent, for which it has written both words. */
    private fun unlock(state: MutexState, index: Int, process: MutexProcess): List<MutexState> {
        assertEquals(ownerOf(index), MutexWord.ownerOf(process.seen), "$state")
        val after = if (MutexWord.hasWaiters(process.seen)) process.copy(at = At.WAKE) else ended(process)
        return cas(state, index, process, MutexWord.released(process.seen, isConsistent = true), after, At.UNLOCK_LOOK)
    }

    private fun ended(process: MutexProcess) =
        MutexProcess(if (process.left == 1) At.DONE else At.LOOK, process.left - 1)

    private fun wake(state: MutexState, index: Int, after: MutexProcess): List<MutexState> {
        val woken = state.processes.indices.filter { state.processes[it].at == At.ASLEEP }
        val next = state.with(index, after)
        if (woken.isEmpty()) return listOf(next)
        return woken.map { next.with(it, state.processes[it].copy(at = At.LOOK)) }
    }

    private fun cas(
        state: MutexState,
        index: Int,
        process: MutexProcess,
        next: Int,
        after: MutexProcess,
        otherwise: At,
    ): List<MutexState> =
        if (state.word == process.seen) listOf(state.copy(word = next).with(index, after))
        else listOf(state.with(index, process.copy(at = otherwise)))

    private fun MutexState.with(index: Int, process: MutexProcess) =
        copy(processes = processes.mapIndexed { at, old -> if (at == index) process else old })
}
