package baton.shared.word

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

/** The next step of a process; the steps are those of [baton.shared.counts.MemberCounts]. */
internal enum class CountsAt {
    READ_WORD,
    READ_LAST_ENTRY,
    CHECK_WORD,
    SET_LAST_ENTRY,
    READ_ENTRY,
    CHANGE_WORD,
    DONE,
    DEAD,
}

/**
 * @property target slot whose count it changes.
 * @property word the word as it was last read, or as this process has made it.
 * @property entry the entry that was last read.
 * @property held what its count is, as far as it knows.
 * @property left changes that are to come: an even number begins with an addition.
 * @property hasChanged whether it settles its own change.
 */
internal data class CountsProcess(
    val at: CountsAt,
    val target: Int,
    val left: Int,
    val word: Long = 0,
    val entry: Long = 0,
    val held: Int = 0,
    val hasChanged: Boolean = false,
)

internal data class CountsState(val word: Long, val entries: List<Long>, val processes: List<CountsProcess>) {
    /** The count of [slot], whether its entry is settled or not. */
    fun countOf(slot: Int) =
        if (CountsWord.lastSlotOf(word) == slot) CountsWord.lastCountOf(word) else CountsWord.countOf(entries[slot - 1])
}

/** Each process adds 1, unless the total is [limit], and takes it off. One that is refused takes off the dead. */
internal class CountsModel(private val limit: Int, private val changes: List<Int>) {
    private fun begin(slot: Int, left: Int, held: Int) =
        CountsProcess(if (left == 0) CountsAt.DONE else CountsAt.READ_WORD, slot, left, held = held)

    fun start(): CountsState {
        val entries = changes.map { CountsWord.adopted(0, generation = 1) }
        return CountsState(0, entries, changes.mapIndexed { index, left -> begin(index + 1, left, held = 0) })
    }

    fun check(state: CountsState) {
        val counts = state.processes.indices.map { state.countOf(it + 1) }
        assertEquals(CountsWord.totalOf(state.word), counts.sum(), "$state")
        assertTrue(counts.sum() <= limit, "$state")
        val isAnyTakenOff = state.processes.indices.any { isTakenOff(state, it) }
        assertEquals(isAnyTakenOff, CountsWord.isLost(state.word), "$state")
        state.processes.forEachIndexed { index, process ->
            if (process.at == CountsAt.DEAD) assertTrue(counts[index] == process.held || counts[index] == 0, "$state")
            else assertEquals(process.held, counts[index], "$state")
        }
    }

    fun isTakenOff(state: CountsState, index: Int): Boolean {
        val process = state.processes[index]
        return process.at == CountsAt.DEAD && process.held > 0 && state.countOf(index + 1) == 0
    }

    fun next(state: CountsState): List<CountsState> = state.processes.indices.flatMap { next(state, it) }

    private fun next(state: CountsState, index: Int): List<CountsState> {
        val process = state.processes[index]
        if (process.at == CountsAt.DONE || process.at == CountsAt.DEAD) return emptyList()
        return steps(state, index, process) + state.with(index, dead(process))
    }

    /** Its registers are forgotten, because no step reads them. */
    private fun dead(process: CountsProcess) = CountsProcess(CountsAt.DEAD, 0, 0, held = process.held)

    private fun steps(state: CountsState, index: Int, process: CountsProcess): List<CountsState> =
        when (process.at) {
            CountsAt.READ_WORD -> {
                val last = CountsWord.lastSlotOf(state.word)
                val at = if (last == 0) CountsAt.READ_ENTRY else CountsAt.READ_LAST_ENTRY
                listOf(state.with(index, process.copy(at = at, word = state.word)))
            }
            CountsAt.READ_LAST_ENTRY -> {
                val entry = state.entries[CountsWord.lastSlotOf(process.word) - 1]
                val isBehind = CountsWord.isBehind(entry, process.word)
                listOf(
                    if (isBehind) state.with(index, process.copy(at = CountsAt.CHECK_WORD, entry = entry))
                    else settled(state, index, process)
                )
            }
            CountsAt.CHECK_WORD ->
                listOf(
                    if (state.word == process.word) state.with(index, process.copy(at = CountsAt.SET_LAST_ENTRY))
                    else settled(state, index, process)
                )
            CountsAt.SET_LAST_ENTRY -> {
                val at = CountsWord.lastSlotOf(process.word) - 1
                val entry = CountsWord.withCount(process.entry, CountsWord.lastCountOf(process.word))
                val next = if (state.entries[at] == process.entry) state.withEntry(at, entry) else state
                listOf(settled(next, index, process))
            }
            CountsAt.READ_ENTRY -> readEntry(state, index, process)
            CountsAt.CHANGE_WORD -> listOf(changeWord(state, index, process))
            CountsAt.DONE,
            CountsAt.DEAD -> emptyList()
        }

    private fun settled(state: CountsState, index: Int, process: CountsProcess): CountsState {
        if (!process.hasChanged) return state.with(index, process.copy(at = CountsAt.READ_ENTRY, entry = 0))
        val left = if (process.target == index + 1) process.left - 1 else process.left
        return state.with(index, begin(index + 1, left, process.held))
    }

    private fun readEntry(state: CountsState, index: Int, process: CountsProcess): List<CountsState> {
        val entry = state.entries[process.target - 1]
        val isOwn = process.target == index + 1
        val isRefused = isOwn && isAddition(process) && CountsWord.totalOf(process.word) == limit
        if (!isRefused && (isOwn || CountsWord.countOf(entry) > 0)) {
            return listOf(state.with(index, process.copy(at = CountsAt.CHANGE_WORD, entry = entry)))
        }
        val again = begin(index + 1, process.left, process.held)
        val dead = state.processes.indices.filter { isRefused && state.processes[it].at == CountsAt.DEAD }
        return dead.map { state.with(index, again.copy(target = it + 1)) } + state.with(index, again)
    }

    private fun changeWord(state: CountsState, index: Int, process: CountsProcess): CountsState {
        if (state.word != process.word) {
            return state.with(index, process.copy(at = CountsAt.READ_WORD, word = 0, entry = 0))
        }
        val isOwn = process.target == index + 1
        val old = CountsWord.countOf(process.entry)
        val count = if (!isOwn) 0 else if (isAddition(process)) old + 1 else old - 1
        val total = CountsWord.totalOf(process.word) + count - old
        val word =
            if (isOwn) CountsWord.changed(process.word, process.target, count, total)
            else CountsWord.takenOff(process.word, process.target, total)
        val after = process.copy(at = CountsAt.READ_LAST_ENTRY, word = word, entry = 0, hasChanged = true)
        return state.copy(word = word).with(index, if (isOwn) after.copy(held = count) else after)
    }

    private fun isAddition(process: CountsProcess) = process.left % 2 == 0

    private fun CountsState.withEntry(at: Int, entry: Long) =
        copy(entries = entries.mapIndexed { index, old -> if (index == at) entry else old })

    private fun CountsState.with(index: Int, process: CountsProcess) =
        copy(processes = processes.mapIndexed { at, old -> if (at == index) process else old })
}
