package baton.shared

import baton.PermitTimeoutException
import java.nio.file.Path
import jdk.jfr.Recording
import jdk.jfr.consumer.RecordingFile
import kotlin.time.Duration
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

@Tag("jdk")
class RecordedRefusalTest {
    @TempDir lateinit var folder: Path

    /** Only the calls of Java were recorded. */
    @Test
    fun lockAndPermit_thatAreNotFreeInTime_areRecorded() {
        val file = folder.resolve("refusals.jfr")
        Recording().use {
            it.enable("baton.Refusal")
            it.start()
            refuseTwice()
            it.stop()
            it.dump(file)
        }
        val messages =
            RecordingFile.readAllEvents(file)
                .filter { it.eventType.name == "baton.Refusal" }
                .map { it.getString("message").substringBefore(" within") }
        assertEquals(listOf("not locked", "no permit"), messages)
    }

    private fun refuseTwice() = runBlocking {
        SharedRegion.open(folder.resolve("app")).use { region ->
            val mutex = region.mutex("m")
            val semaphore = region.semaphore("s", permits = 1)
            mutex.withLock {
                assertThrows<PermitTimeoutException> { mutex.withLock(Duration.ZERO) { error("must not run") } }
            }
            semaphore.withPermit {
                assertThrows<PermitTimeoutException> { semaphore.withPermit(Duration.ZERO) { error("must not run") } }
            }
        }
    }
}
