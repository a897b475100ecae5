package baton.shared

import baton.shared.region.NameRequest
import baton.shared.region.ObjectKind
import baton.shared.region.SharedMemory
import baton.shared.waiting.ChangeWord
import baton.shared.waiting.Polling
import java.nio.file.Path
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

@Tag("jdk")
class WordWatchTest {
    @TempDir private lateinit var directory: Path

    /** The timer is there for the followers, and must not wake the process when they have left. */
    @Test
    fun followers_cancelled_leaderIsNotWatchedAnyMore() = runBlocking {
        val memory = SharedMemory.open(directory.resolve("app"), Polling)
        val shared = memory.named(NameRequest(ObjectKind.WAIT_GROUP, NameRequest.LOCKS, "group"))
        val watch = ChangeWord(memory, shared.words).newWatch()
        fun waiter() = launch(Dispatchers.Default) { watch.await(probe = {}) { null } }
        val leader = waiter()
        delay(20)
        assertFalse(watch.isLeaderWatched)
        val followers = List(2) { waiter() }
        withTimeout(2.minutes) { while (!watch.isLeaderWatched) delay(1) }
        followers[0].cancelAndJoin()
        delay(250)
        assertTrue(watch.isLeaderWatched)
        followers[1].cancelAndJoin()
        withTimeout(2.minutes) { while (watch.isLeaderWatched) delay(1) }
        assertTrue(leader.isActive)
        leader.cancelAndJoin()
        memory.close()
    }
}
