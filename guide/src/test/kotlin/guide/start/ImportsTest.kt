package guide.start

import baton.channels.Channel
import baton.channels.getOrElse
import baton.resilience.RateLimiter
import baton.resilience.RateLimiters
import baton.resilience.per
import baton.resilience.withPermit
import baton.shared.SharedRegion
import baton.shared.withLock
import baton.shared.withPermit
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.withLock
import baton.sync.withPermit
import baton.sync.withPermits
import baton.sync.withRead
import baton.sync.withWrite
import java.nio.file.Path
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** The imports of docs/getting-started.md, all in one file: the receiver tells functions of one name apart. */
class ImportsTest {
    @TempDir lateinit var folder: Path

    @Test
    fun extensionsOfOneName_areToldApartByTheirReceivers() = runBlocking {
        val values = ArrayList<String>()
        Mutex().withLock { values += "mutex" }
        ReadWriteLock().run {
            withRead { values += "read" }
            withWrite { values += "write" }
        }
        Semaphore(2).run {
            withPermit { values += "permit" }
            withPermits(2) { values += "permits" }
        }
        RateLimiter.tokenBucket(10 per 1.seconds).withPermit { values += "limiter" }
        val limits = RateLimiters<String>(10 per 1.seconds)
        limits.withPermit("customer") { values += "limiter of $it" }
        assertEquals(1, limits.size)
        SharedRegion.open(folder.resolve("app")).use { region ->
            region.mutex("data").withLock { values += "shared mutex" }
            val licences = region.semaphore("licences", permits = 3)
            licences.withPermit { values += "shared permit" }
            assertNotNull(licences.tryAcquire(1, 1.seconds)?.also { it.close() })
            assertEquals(3, licences.availablePermits)
        }
        values += Channel<String>(1).tryReceive().getOrElse { "no element" }
        assertEquals(10, values.size)
    }
}
