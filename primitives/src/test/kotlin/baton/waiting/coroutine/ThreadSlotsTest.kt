package baton.waiting.coroutine

import java.util.concurrent.CopyOnWriteArrayList
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test

class ThreadSlotsTest {
    private val orphans = CopyOnWriteArrayList<String>()
    private val slots = ThreadSlots<String> { orphans += it }

    private fun put(text: String) {
        checkNotNull(slots.get()).plain = text
    }

    @Test
    fun get_againOnOneThread_returnsItsSlot() {
        assertNull(slots.find())
        put("mine")
        assertEquals("mine", slots.get()?.plain)
        assertSame(slots.get(), slots.find())
    }

    @Test
    fun get_afterThreadsHaveEnded_handsOverWhatTheyLeftOnce() {
        thread { put("first") }.join()
        thread { put("second") }.join()
        assertEquals(listOf("first"), orphans)
        repeat(2) { put("mine") }
        assertEquals(listOf("first", "second"), orphans)
    }

    @Test
    fun get_whileAThreadLives_leavesItsObjectAlone() {
        put("mine")
        thread { put("other") }.join()
        assertEquals(emptyList<String>(), orphans)
        assertEquals("mine", slots.find()?.plain)
    }

    @Test
    fun get_onAVirtualThread_returnsNone() {
        val start = runCatching { Thread::class.java.getMethod("startVirtualThread", Runnable::class.java) }.getOrNull()
        assumeTrue(start != null, "this JDK has no virtual threads")
        var found: Any? = "not run"
        (checkNotNull(start) { "assumed above" }.invoke(null, Runnable { found = slots.find() ?: slots.get() })
                as Thread)
            .join()
        assertNull(found)
    }
}
