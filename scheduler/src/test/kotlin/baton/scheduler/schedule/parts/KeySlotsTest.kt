package baton.scheduler.schedule.parts

import baton.scheduler.schedule.KeySlots
import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** The slots of keys, against a map. */
class KeySlotsTest {
    /** Hashes that collide often, or always. */
    private data class Key(val number: Int, val hashes: Int) {
        override fun hashCode() = number % hashes
    }

    @ParameterizedTest
    @ValueSource(ints = [1, 3, 50, 1_000_000])
    fun operations_random_findWhatAMapFinds(hashes: Int) {
        val random = Random(hashes)
        val slots = KeySlots<Key>()
        val model = HashMap<Key, Int>()
        repeat(20_000) {
            val key = Key(random.nextInt(300), hashes)
            val known = model[key]
            assertEquals(known ?: -1, slots.find(key))
            if (known == null) {
                val slot = slots.add(key)
                assertTrue(slot !in model.values && slot < slots.capacity)
                model[key] = slot
            } else if (random.nextBoolean()) {
                slots.remove(known)
                model.remove(key)
                assertNull(slots[known])
            }
        }
        for ((key, slot) in model) assertEquals(key, slots[slot])
        assertTrue(slots.capacity <= 512, "freed slots are not used again")
    }

    /** All collide. The hash of one fails as soon as none is left of [left]. */
    private class FailingKey(val number: Int, val left: IntArray) {
        override fun hashCode(): Int {
            if (left[0]-- == 0) error("the hash of $number")
            return 7
        }

        override fun equals(other: Any?) = other is FailingKey && other.number == number
    }

    @Test
    fun remove_aHashFailsMidway_leavesTheTableAsItWas() {
        for (failsAfter in 0..5) for (removed in 0 until 6) {
            val left = intArrayOf(Int.MAX_VALUE)
            val slots = KeySlots<FailingKey>()
            val keys = List(6) { FailingKey(it, left) }
            for (key in keys) slots.add(key)
            left[0] = failsAfter
            val failure = runCatching { slots.remove(removed) }.exceptionOrNull()
            left[0] = Int.MAX_VALUE
            for (key in keys) {
                val expected = if (failure == null && key.number == removed) -1 else key.number
                assertEquals(expected, slots.find(key)) { "$removed removed, a failure after $failsAfter hashes" }
            }
            for (key in keys) if (slots.find(key) >= 0) slots.remove(key.number)
            for (key in keys) assertEquals(-1, slots.find(key))
        }
    }
}
