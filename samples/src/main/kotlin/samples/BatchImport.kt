package samples

import baton.batch.BatchProcessor
import baton.resilience.Backoff
import baton.resilience.Jitter
import baton.resilience.RetryAfter
import baton.resilience.RetryPolicy
import baton.sync.Semaphore
import baton.sync.withPermits
import java.io.IOException
import java.io.PrintStream
import java.net.http.HttpClient
import java.net.http.HttpResponse.BodyHandlers
import java.time.Duration
import kotlin.streams.asSequence
import kotlinx.coroutines.future.await
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import samples.support.Cli
import samples.support.ImportOptions
import samples.support.ImportRecord
import samples.support.ImportReport
import samples.support.ImportServer
import samples.support.QuotaReport
import samples.support.RefusedException

/**
 * Sends five thousand records to a server with the faults of a real one: all at once, where most are lost, and then in
 * batches with a limit, a bound of the heap and retries, where every record arrives exactly once, and the report
 * accounts for each. The second part is [QuotaImport]. `samples.java.BatchImport` is the same in Java.
 */
class BatchImport private constructor(private val server: ImportServer, private val patience: Duration) {
    private val client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(patience).build()

    /** Returns the answer of the server; throws a [RefusedException] if that is not 200. */
    private suspend fun send(record: ImportRecord): String =
        client
            .sendAsync(server.request(record, patience), BodyHandlers.ofString())
            .thenCompose { RefusedException.bodyOf(it) }
            .await()

    private fun allAtOnce(records: Int, report: ImportReport) = runBlocking {
        for (record in ImportRecord.read(records)) {
            launch {
                try {
                    send(record)
                    report.answered()
                } catch (failure: IOException) {
                    report.failed(failure)
                }
            }
        }
        yield() // Each coroutine runs until it has sent its record.
        report.allStarted()
    }

    private fun withBaton(options: ImportOptions, report: ImportReport) = runBlocking {
        // Read from -Dimport.maxConcurrentTasks=… and the like.
        val config = options.config
        // An attempt takes as many permits as its record weighs. A record that waits for its retry takes none.
        val weights = Semaphore(options.limit)
        val policy =
            RetryPolicy(
                maxAttempts = config.retry.maxAttempts,
                backoff = Backoff.exponential(config.retry.baseDelay),
                jitter = Jitter.Factor(config.retry.jitterFactor),
                maxDelay = config.retry.maxDelay,
                retryIf = RefusedException::isTemporary,
                retryAfter = { RetryAfter.parse(RefusedException.retryAfter(it).orElse(null)) },
                onRetry = report::retried,
            )
        val batch = BatchProcessor(config, policy, name = "import")
        val records = ImportRecord.read(options.records).asSequence().onEach { report.pulled() }.asIterable()
        val ended =
            batch.process(records, onResult = { _, _ -> report.saved() }, maxFailures = options.maxFailures) { record ->
                weights.withPermits(record.weight()) { send(record) }.also { report.answered() }
            }
        report.ended(ended)
    }

    private object Client : Cli.ImportClient {
        override fun allAtOnce(records: Int, server: ImportServer, report: ImportReport) =
            BatchImport(server, Duration.ofSeconds(1)).allAtOnce(records, report)

        override fun withBaton(options: ImportOptions, server: ImportServer, report: ImportReport) =
            BatchImport(server, Duration.ofSeconds(10)).withBaton(options, report)

        override fun retryOnly(options: ImportOptions, server: ImportServer, report: QuotaReport) =
            quotaImport(options, server, report).retryOnly()

        override fun withLimiterAndBreaker(options: ImportOptions, server: ImportServer, report: QuotaReport) =
            quotaImport(options, server, report).withLimiterAndBreaker()

        /** Patient: a call that has timed out could still reach the server, beside its successor. */
        private fun quotaImport(options: ImportOptions, server: ImportServer, report: QuotaReport) =
            QuotaImport(options, report, BatchImport(server, Duration.ofSeconds(10))::send)
    }

    companion object {
        /** Returns the exit code: 0 if with Baton all is as it should be. */
        @JvmStatic
        fun run(args: Array<String>, out: PrintStream, err: PrintStream): Int = Cli.runImports(args, out, err, Client)

        @JvmStatic fun main(args: Array<String>) = Cli.exit(run(args, System.out, System.err))
    }
}
