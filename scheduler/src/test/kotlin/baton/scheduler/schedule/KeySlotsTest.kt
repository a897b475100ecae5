package baton.scheduler.schedule

import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
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
}
