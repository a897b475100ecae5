package baton.sync.semaphore

import baton.Priority
import baton.sync.Semaphore
import baton.sync.WaitOrder

/**
 * Sequential model of a [Semaphore], as plain as possible: one list of waiters, one number of held permits, one thread.
 * For [WaitOrder.FIFO] and [WaitOrder.PRIORITY].
 *
 * The caller identifies a waiter by a number of its choice. Operations return the results of the real ones. The waiters
 * that they also grant or fail are appended to [granted] and [failed].
 */
class SemaphoreModel(permits: Int, acquired: Int = 0, private val order: WaitOrder = WaitOrder.FIFO) {
    enum class Answer {
        GRANTED,
        BUSY,
        WAITING,
        TOO_HEAVY,
        CLOSED,
    }

    private class Waiting(val id: Int, val weight: Int, val level: Priority)

    private val line = mutableListOf<Waiting>()
    private val passes = IntArray(Priority.entries.size)

    var permits: Int = permits
        private set

    var held: Int = acquired
        private set

    var isClosed: Boolean = false
        private set

    val available: Int
        get() = (permits - held).coerceAtLeast(0)

    val waiting: Int
        get() = line.size

    val isIdle: Boolean
        get() = held == 0

    /** The waiters that were granted, in that order. */
    val granted: MutableList<Int> = mutableListOf()

    /** The waiters that were failed by a resize or by close, in no particular order. */
    val failed: MutableList<Int> = mutableListOf()

    fun acquire(id: Int, weight: Int = 1, level: Priority = Priority.NORMAL): Answer {
        val answer = tryAcquire(weight)
        if (answer != Answer.BUSY) return answer
        line += Waiting(id, weight, level)
        admit()
        return if (granted.remove(id)) Answer.GRANTED else Answer.WAITING
    }

    fun tryAcquire(weight: Int = 1): Answer =
        when {
            isClosed -> Answer.CLOSED
            isTooHeavy(weight) -> Answer.TOO_HEAVY
            line.isNotEmpty() || weight > permits - held -> Answer.BUSY
            else -> Answer.GRANTED.also { held += weight }
        }

    /** Where there are no permits, all wait. */
    private fun isTooHeavy(weight: Int) = permits > 0 && weight > permits

    /** False when more is released than is held. */
    fun release(n: Int = 1): Boolean {
        if (n > held) return false
        held -= n
        admit()
        return true
    }

    /** Cancelled or timed out. False when [id] does not wait any more. */
    fun withdraw(id: Int): Boolean {
        val waiting = line.find { it.id == id } ?: return false
        leave(waiting)
        admit()
        return true
    }

    /** False when closed. */
    fun resize(permits: Int): Boolean {
        if (isClosed) return false
        this.permits = permits
        line.filter { isTooHeavy(it.weight) }.forEach(::fail)
        admit()
        return true
    }

    fun close() {
        isClosed = true
        line.toList().forEach(::fail)
    }

    private fun fail(waiting: Waiting) {
        leave(waiting)
        failed += waiting.id
    }

    private fun leave(waiting: Waiting) {
        line -= waiting
        if (line.none { it.level == waiting.level }) passes[waiting.level.ordinal] = 0
    }

    private fun admit() {
        while (true) {
            val head = head() ?: return
            if (head.weight > permits - held) return
            leave(head)
            held += head.weight
            granted += head.id
            for (level in Priority.entries) {
                val passedOver = level != head.level && line.any { it.level == level }
                passes[level.ordinal] = if (passedOver) passes[level.ordinal] + 1 else 0
            }
        }
    }

    private fun head(): Waiting? {
        if (order != WaitOrder.PRIORITY) return line.firstOrNull()
        val levels = Priority.entries.filter { level -> line.any { it.level == level } }
        val isTight = (0..3).any { places -> levels.count { left(it) <= places } > places }
        val next = if (isTight) levels.minBy(::left) else levels.firstOrNull()
        return line.firstOrNull { it.level == next }
    }

    private fun left(level: Priority) = bypass(level) - passes[level.ordinal]

    private fun bypass(level: Priority) =
        when (level) {
            Priority.CRITICAL -> Int.MAX_VALUE
            Priority.HIGH -> 64
            Priority.NORMAL -> 128
            Priority.LOW -> 256
            Priority.IDLE -> 512
        }
}
