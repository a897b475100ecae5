package baton.scheduler.schedule

import baton.resilience.Backoff
import baton.resilience.RetryPolicy
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import java.io.IOException
import java.nio.file.Path
import java.time.Duration
import java.time.Instant
import jdk.jfr.Recording
import jdk.jfr.consumer.RecordingFile
import kotlin.time.Duration.Companion.ZERO
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.awaitCancellation
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** The runs of a schedule in a recording of the JDK Flight Recorder. */
@Tag("jdk")
class RecordedRunTest {
    @TempDir lateinit var folder: Path

    @Test
    fun run_thatEnds_isRecordedWithItsOutcome() {
        val file = folder.resolve("runs.jfr")
        Recording().use { recording ->
            recording.enable(NAME).withThreshold(Duration.ZERO)
            recording.start()
            runs()
            recording.stop()
            recording.dump(file)
        }
        val found =
            RecordingFile.readAllEvents(file)
                .filter { it.eventType.name == NAME }
                .map { event -> listOf("schedule", "key", "outcome").joinToString(" ") { event.getString(it) } }
        val expected =
            listOf(
                "good SUCCEEDED",
                "bad FAILED",
                "bad FAILED",
                "late TIMED_OUT",
                "cancelled CANCELLED",
                "endless ENDED",
            )
        assertEquals(expected.map { "Schedule 'test' $it" }.sorted(), found.sorted())
    }

    private fun runs() = scheduleTest {
        val config = config(grace = ZERO)
        val limits = mapOf<Any, kotlin.time.Duration>("late" to 3.seconds)
        val schedule =
            started(
                ScheduleConfig(
                    grace = ZERO,
                    onFailure = config.onFailure,
                    clock = config.clock,
                    runTimeout = { limits[it] ?: kotlin.time.Duration.INFINITE },
                    retry = { key ->
                        RetryPolicy(maxAttempts = 2, backoff = Backoff.constant(1.seconds)).takeIf { key == "bad" }
                    },
                )
            ) {
                if (it.key == "bad") throw IOException("down")
                if (it.key != "good") awaitCancellation()
            }
        for (key in listOf("good", "bad", "late", "cancelled", "endless")) schedule.put(
            key,
            Trigger.at(Instant.ofEpochSecond(10)),
        )
        pass(20.seconds)
        schedule.cancelRun("cancelled")
        pass(ZERO)
        schedule.shutdown()
    }

    private companion object {
        const val NAME = "baton.ScheduleRun"
    }
}
