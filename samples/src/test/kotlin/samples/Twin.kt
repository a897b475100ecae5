package samples

import java.io.ByteArrayOutputStream
import java.io.PrintStream
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.Arguments.arguments

/** The output and the exit code of a run. */
class Outcome(val exitCode: Int, out: ByteArray, err: ByteArray) {
    val out: String = text(out)
    val err: String = text(err)

    private fun text(bytes: ByteArray) = bytes.toString(UTF_8).replace(System.lineSeparator(), "\n")
}

/** The whole numbers of every table in the output, by label. */
fun Outcome.tables(): List<Map<String, Int>> =
    out.trim().split(Regex("\\R\\R")).map { table ->
        table
            .lines()
            .mapNotNull { Regex("  (.+?) {2,}(\\d+)(  .*)?").matchEntire(it)?.destructured }
            .associate { (label, count) -> label.trim() to count.toInt() }
    }

/** The table at the end of the output. */
fun Outcome.summary(): Map<String, Int> = tables().last()

/** `main` without ending the JVM. */
typealias Sample = (args: Array<String>, out: PrintStream, err: PrintStream) -> Int

/** The message on the error output of a run that refuses its arguments. */
fun Sample.refusal(vararg args: String): String {
    val outcome = runHere(*args)
    assertEquals("", outcome.out)
    assertEquals(2, outcome.exitCode)
    return outcome.err.removeSuffix("\n")
}

/** `--help` names the [options], also after [arguments] that are wrong. */
fun Sample.assertHelpNames(options: List<String>, vararg arguments: String) {
    val outcome = runHere(*arguments, "--help")
    for (option in options + "--help") assertTrue(Regex("  $option\\b") in outcome.out, option)
    assertEquals("", outcome.err)
    assertEquals(0, outcome.exitCode)
}

/** The two languages of every sample. */
enum class Twin(
    val packageName: String,
    val rateLimitedClient: Sample,
    val transferMoney: Sample,
    val cacheLock: Sample,
    val dashboard: Sample,
    val searchAsYouType: Sample,
    val pipeline: Sample,
    val priorityTasks: Sample,
    val batchImport: Sample,
    val employeeInsert: Sample,
    val sharedCounter: Sample,
) {
    KOTLIN(
        "samples",
        RateLimitedClient::run,
        TransferMoney::run,
        CacheLock::run,
        Dashboard::run,
        SearchAsYouType::run,
        Pipeline::run,
        PriorityTasks::run,
        BatchImport::run,
        EmployeeInsert::run,
        SharedCounter::run,
    ),
    JAVA(
        "samples.java",
        samples.java.RateLimitedClient::run,
        samples.java.TransferMoney::run,
        samples.java.CacheLock::run,
        samples.java.Dashboard::run,
        samples.java.SearchAsYouType::run,
        samples.java.Pipeline::run,
        samples.java.PriorityTasks::run,
        samples.java.BatchImport::run,
        samples.java.EmployeeInsert::run,
        samples.java.SharedCounter::run,
    );

    /**
     * Starts a JVM that runs the sample called [name], in [directory] or else in the current one. It runs too briefly
     * for the optimizing compiler to pay.
     */
    fun start(name: String, vararg args: String, directory: Path? = null, jvm: List<String> = emptyList()): Process =
        ProcessBuilder(
                System.getProperty("java.home") + "/bin/java",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                *jvm.toTypedArray(),
                "-cp",
                System.getProperty("java.class.path"),
                "$packageName.$name",
                *args,
            )
            .directory(directory?.toFile())
            .start()
}

/** Each input with its message, for both languages. */
fun forBoth(vararg cases: Pair<Any, String>): List<Arguments> =
    Twin.entries.flatMap { twin -> cases.map { (input, message) -> arguments(twin, input, message) } }

/** Runs the sample in this JVM. */
fun Sample.runHere(vararg args: String): Outcome {
    val out = ByteArrayOutputStream()
    val err = ByteArrayOutputStream()
    val exitCode = this(arrayOf(*args), PrintStream(out, true, UTF_8), PrintStream(err, true, UTF_8))
    return Outcome(exitCode, out.toByteArray(), err.toByteArray())
}

/** Waits until the JVM ends, and ends it otherwise. The output of a sample fits into the pipe's buffer meanwhile. */
fun Process.outcome(seconds: Long = 120): Outcome {
    val ended =
        try {
            waitFor(seconds, TimeUnit.SECONDS)
        } finally {
            toHandle().destroyForcibly() // The process itself would close its output, too.
        }
    val outcome = Outcome(if (ended) exitValue() else -1, inputStream.readAllBytes(), errorStream.readAllBytes())
    assertTrue(ended, "did not end: ${outcome.out}${outcome.err}")
    return outcome
}

/** Fails if a thread beside those of [before] is still there, unless it is a daemon or ends soon. */
fun assertNoThreadLeft(before: Set<Thread>) {
    val left = (Thread.getAllStackTraces().keys - before).filter { !it.isDaemon }.onEach { it.join(120_000) }
    assertEquals(emptyList<Thread>(), left.filter { it.isAlive })
}
