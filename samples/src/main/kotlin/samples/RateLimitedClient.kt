package samples

import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.sync.withPermit
import java.io.IOException
import java.io.PrintStream
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers
import java.time.Duration
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.future.await
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import samples.support.ApiServer
import samples.support.Cli
import samples.support.Options
import samples.support.Tally

/**
 * Fetches a thousand items from a server that refuses more than five requests at a time: with a semaphore, where every
 * item arrives, and without. `samples.java.RateLimitedClient` is the same in Java.
 */
object RateLimitedClient {
    private val client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).build()

    private suspend fun get(uri: URI): Int {
        val request = HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(10)).build()
        return client.sendAsync(request, BodyHandlers.ofString()).await().statusCode()
    }

    /** Starts a coroutine for every item, all at once. */
    private suspend fun fetchAll(items: List<String>, tally: Tally, fetch: suspend (String) -> Int) = coroutineScope {
        for (path in items) {
            launch {
                try {
                    tally.answered(fetch(path))
                } catch (failure: IOException) {
                    tally.failed(failure)
                } catch (stopped: SemaphoreClosedException) {
                    tally.failed(stopped)
                }
            }
        }
    }

    private suspend fun withSemaphore(items: List<String>, limit: Int, server: ApiServer, tally: Tally) {
        val semaphore = Semaphore(limit)
        fetchAll(items, tally) { path ->
            semaphore.withPermit {
                try {
                    get(server.uri(path))
                } catch (failure: IOException) {
                    semaphore.close(failure) // Queued items need not try: they get a SemaphoreClosedException.
                    throw failure
                }
            }
        }
    }

    private suspend fun withoutSemaphore(items: List<String>, server: ApiServer, tally: Tally) {
        fetchAll(items, tally) { path -> get(server.uri(path)) }
    }

    private fun measure(
        title: String,
        items: List<String>,
        options: Options,
        out: PrintStream,
        fetch: suspend (ApiServer, Tally) -> Unit,
    ): Tally =
        ApiServer.start(options.serverLimit, options.failAfter).use { server ->
            val tally = Tally(items.size, out)
            runBlocking { fetch(server, tally) }
            tally.print(out, title, server.peak())
            tally
        }

    fun run(args: Array<String>, out: PrintStream, err: PrintStream): Int =
        Cli.run(args, out, err) { items, options ->
            val limit = options.limit
            val limited =
                measure("With a semaphore, permits = $limit", items, options, out) { server, tally ->
                    withSemaphore(items, limit, server, tally)
                }
            if (!limited.isClean) {
                err.println("incomplete: ${limited.shortfall()}")
                return@run 1
            }
            measure("Without the semaphore", items, options, out) { server, tally ->
                withoutSemaphore(items, server, tally)
            }
            0
        }

    @JvmStatic fun main(args: Array<String>) = Cli.exit(run(args, System.out, System.err))
}
