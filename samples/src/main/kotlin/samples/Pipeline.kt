package samples

import baton.channels.Channel
import java.io.PrintStream
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.future.await
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import samples.support.Cli
import samples.support.Ledger
import samples.support.PageServer

/**
 * One coroutine discovers pages, three fetch them, and a slow one aggregates them. Two bounded channels between them
 * provide backpressure: few pages are in memory at any time. A pipeline stopped in the middle leaves no page, request
 * or waiter. `samples.java.Pipeline` is the same in Java.
 */
class Pipeline private constructor(private val server: PageServer, private val ledger: Ledger) {
    private val links = Channel<String>(LINKS, name = "links")
    private val pages = Channel<String>(PAGES, name = "pages", onDropped = ledger::dropped)

    private suspend fun discover() {
        var next: String? = PageServer.INDEX
        while (next != null) {
            val portion = server.portion(next).await()
            for (link in portion.links) links.send(link)
            next = portion.next
        }
        links.close()
    }

    private suspend fun fetch() {
        for (link in links) {
            ledger.asked()
            val page = server.page(link).await()
            ledger.fetched(page)
            try {
                pages.send(page)
            } catch (notSent: Throwable) {
                ledger.refused(page)
                throw notSent
            }
        }
    }

    private suspend fun fetchAll() {
        coroutineScope { repeat(FETCHERS) { launch { fetch() } } }
        pages.close()
    }

    /** Aggregates until there are no more pages, or [enough] are done. */
    private suspend fun aggregate(enough: Int) {
        for (page in pages) {
            ledger.stuck().await()
            server.count(page).await() // The earlier stages could continue meanwhile if the channel were not full.
            if (ledger.aggregated(page) == enough) break
        }
    }

    private suspend fun run(enough: Int) = coroutineScope {
        val work = launch {
            launch { discover() }
            launch { fetchAll() }
        }
        aggregate(enough)
        server.holding().await()
        work.cancelAndJoin() // Aborts their requests and cancels their waiting sends.
        links.cancel()
        pages.cancel() // Buffered pages go to onDropped.
    }

    companion object {
        private const val FETCHERS = 3
        private const val LINKS = 10
        private const val PAGES = 4

        /** A full channel, one page in each fetcher, one in the aggregator. */
        private const val BOUND = PAGES + FETCHERS + 1

        private const val ENOUGH = 30

        private fun run(out: PrintStream, title: String, fetchable: Int, enough: Int): Boolean =
            PageServer(fetchable).use { server ->
                val ledger = Ledger(BOUND, fetchable)
                val pipeline = Pipeline(server, ledger)
                runBlocking { pipeline.run(enough) }
                val waiters = pipeline.links.waiting + pipeline.pages.waiting
                ledger.report(out, title, enough, waiters, server)
            }

        /** Returns the exit code: 0 if no run exceeded the bound, lost a page, or left a request or a waiter. */
        @JvmStatic
        fun run(args: Array<String>, out: PrintStream, err: PrintStream): Int =
            Cli.runWithoutOptions(args, err) {
                val whole = run(out, "All pages", PageServer.PAGES, PageServer.PAGES)
                // When the aggregator has enough pages, one fetcher waits for its response, and the others wait to
                // send.
                val half = run(out, "Stopped after $ENOUGH pages", ENOUGH + BOUND - 2, ENOUGH)
                whole && half
            }

        @JvmStatic fun main(args: Array<String>) = Cli.exit(run(args, System.out, System.err))
    }
}
