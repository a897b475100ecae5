package baton.shared

import baton.reportingTo
import baton.shared.region.NameRequest
import baton.shared.region.ObjectKind
import baton.shared.region.RegionMember
import baton.shared.region.SharedMemory
import baton.shared.region.WordWait
import baton.shared.region.Words
import baton.shared.waiting.ChangeWord
import baton.shared.waiting.Polling
import baton.waiting.InnerFailure
import baton.waiting.NoTimerThread
import java.nio.file.Path
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** The threads of shared memory: a failure reaches the caller that waits for them, and stops no other work. */
@Tag("jdk")
class SleeperFailureTest {
    @TempDir private lateinit var directory: Path

    private class FailingSleep(private val failure: Throwable) : WordWait {
        override val canWake = true

        override fun park(words: Words, offset: Int, expected: Int, nanos: Long) = throw failure

        override fun wake(words: Words, offset: Int, count: Int) = Unit
    }

    @ParameterizedTest
    @EnumSource
    fun sleep_thatFails_failsTheCallThatWaits(inner: InnerFailure) {
        val memory = SharedMemory.open(directory.resolve("app"), FailingSleep(inner.create()))
        val shared = memory.named(NameRequest(ObjectKind.WAIT_GROUP, NameRequest.LOCKS, "group"))
        val watch = ChangeWord(memory, shared.words).newWatch()
        val failure =
            assertThrows<Throwable> {
                runBlocking(Dispatchers.Default) { withTimeout(2.minutes) { watch.await<Unit>(probe = {}) { null } } }
            }
        assertEquals(inner.create().javaClass, failure.javaClass)
        memory.close()
    }

    @ParameterizedTest
    @EnumSource
    fun member_thatFailsAtTheEnd_isReported_andTheOthersHearOfTheEnd(inner: InnerFailure) {
        val memory = SharedMemory.open(directory.resolve("app"), Polling)
        val failure = inner.create()
        var heard = 0
        memory.register(
            object : RegionMember {
                override fun regionEnded(isUsable: Boolean) = throw failure
            }
        )
        memory.register(
            object : RegionMember {
                override fun regionEnded(isUsable: Boolean) {
                    heard++
                }
            }
        )
        val reported = ArrayList<Throwable>()
        reportingTo(reported) { memory.close() }
        assertEquals(listOf(failure), reported)
        assertEquals(1, heard)
    }

    /** Each open would leave one of the 1,023 slots taken. */
    @Test
    fun open_withoutAThreadForTheTimer_throwsAndLeavesNoSlot() {
        val path = directory.resolve("app")
        NoTimerThread.during { repeat(5) { assertThrows<OutOfMemoryError> { SharedMemory.open(path, Polling) } } }
        val memory = SharedMemory.open(path, Polling)
        assertEquals(1, memory.slot)
        memory.close()
    }
}
