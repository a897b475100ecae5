package samples

import baton.tasks.CancellableTask
import baton.tasks.cancellableTask
import java.io.PrintStream
import java.net.http.HttpClient
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandlers
import java.time.Duration
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.future.await
import kotlinx.coroutines.runBlocking
import samples.support.Cli
import samples.support.SearchServer

/**
 * A user types a word, and every letter starts a search. It cancels the previous search together with its request: the
 * server sees that the connection is closed. `samples.java.SearchAsYouType` is the same in Java.
 */
object SearchAsYouType {
    private const val WORD = "baton"

    private val client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).build()

    private fun CoroutineScope.search(server: SearchServer, query: String): CancellableTask<String> =
        cancellableTask(name = query) {
            val exchange = client.sendAsync(server.request(query), BodyHandlers.ofString())
            onTeardown { exchange.cancel(true) }
            // await alone cancels the future without that flag: it would end, and the request would continue.
            exchange.thenApply(HttpResponse<String>::body).await()
        }

    private suspend fun type(server: SearchServer): String = coroutineScope {
        var search = search(server, WORD.take(1))
        server.seen(WORD.take(1)).await()
        for (letters in 2..WORD.length) {
            search.cancel()
            search = search(server, WORD.take(letters))
            server.seen(WORD.take(letters)).await()
        }
        search.await()
    }

    /** Returns the exit code: 0 if only the last query was answered, and all others were aborted. */
    fun run(args: Array<String>, out: PrintStream, err: PrintStream): Int =
        Cli.runWithoutOptions(args, err) {
            SearchServer(WORD).use { server ->
                val shown = runBlocking { type(server) }
                server.report(out, WORD, shown, SearchServer.PATIENCE)
            }
        }

    @JvmStatic fun main(args: Array<String>) = Cli.exit(run(args, System.out, System.err))
}
