package samples

import baton.scheduler.TaskScheduler
import java.io.IOException
import java.io.PrintStream
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers
import java.time.Duration
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.future.await
import kotlinx.coroutines.runBlocking
import samples.support.ApiServer
import samples.support.Cli
import samples.support.Timesheet

/**
 * An application refreshes its token and loads a view while less urgent requests are queued: without priorities behind
 * them, with priorities ahead of them. `samples.java.PriorityTasks` is the same in Java.
 */
object PriorityTasks {
    private val client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).build()

    private suspend fun get(uri: URI) {
        val request = HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(10)).build()
        val status = client.sendAsync(request, BodyHandlers.discarding()).await().statusCode()
        if (status != 200) throw IOException("${uri.path} answered $status")
    }

    private suspend fun runAll(sheet: Timesheet, server: ApiServer, concurrency: Int) = coroutineScope {
        val scheduler = TaskScheduler(this, concurrency)
        for (job in sheet.jobs()) {
            sheet.due(job).await()
            sheet.scheduled(job)
            scheduler.schedule(job.priority) {
                sheet.started(job)
                try {
                    get(server.uri(job.path()))
                    sheet.ended(job)
                } catch (failure: IOException) {
                    scheduler.close(failure) // Queued jobs need not try: they get a SchedulerClosedException.
                    sheet.failed(job, failure)
                }
            }
        }
        scheduler.drain()
    }

    fun run(args: Array<String>, out: PrintStream, err: PrintStream): Int =
        Cli.runJobs(args, out, err) { sheet, server, concurrency -> runBlocking { runAll(sheet, server, concurrency) } }

    @JvmStatic fun main(args: Array<String>) = Cli.exit(run(args, System.out, System.err))
}
