package baton.scheduler.schedule

import baton.resilience.Backoff
import baton.resilience.RetryPolicy
import baton.scheduler.ScheduleConfig
import baton.scheduler.TaskDeadlineException
import baton.scheduler.TaskScheduler
import baton.scheduler.Trigger
import java.io.IOException
import java.nio.file.Path
import java.time.Duration
import java.time.Instant
import jdk.jfr.Recording
import jdk.jfr.consumer.RecordedEvent
import jdk.jfr.consumer.RecordingFile
import kotlin.time.Duration.Companion.ZERO
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** The attempts of the runs of a schedule, and the tasks of a scheduler, in a recording of the JDK Flight Recorder. */
@Tag("jdk")
class RecordedAttemptTest {
    @TempDir lateinit var folder: Path

    @Test
    fun attempt_thatEnds_isRecordedWithItsNumberAndOutcome() {
        val found =
            record("baton.ScheduleAttempt") { runs() }
                .map { event ->
                    listOf("schedule", "key", "attempt", "outcome").joinToString(" ") { "${event.getValue<Any>(it)}" }
                }
        val expected =
            listOf(
                "good 1 SUCCEEDED",
                "bad 1 FAILED",
                "bad 2 FAILED",
                "late 1 TIMED_OUT",
                "cancelled 1 CANCELLED",
                "endless 1 ENDED",
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

    @Test
    fun task_thatIsRefused_isRecorded_andOneThatIsClearedIsNot() {
        val found =
            record("baton.Refusal") {
                runTest {
                    val scheduler = TaskScheduler(backgroundScope, 1, "pages")
                    scheduler.pause()
                    scheduler.schedule {}
                    assertEquals(1, scheduler.clear())
                    scheduler.schedule(deadline = ZERO) {}
                }
            }
        assertEquals(
            listOf("TaskScheduler 'pages' ${TaskDeadlineException::class.java.name}"),
            found.map { "${it.getString("primitive")} ${it.getClass("exception").name}" },
        )
    }

    private fun record(name: String, block: () -> Unit): List<RecordedEvent> {
        val file = folder.resolve("events.jfr")
        Recording().use { recording ->
            recording.enable(name).withThreshold(Duration.ZERO)
            recording.start()
            block()
            recording.stop()
            recording.dump(file)
        }
        return RecordingFile.readAllEvents(file).filter { it.eventType.name == name }
    }
}
