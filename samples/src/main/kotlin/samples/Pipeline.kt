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
 * One discovers pages, three fetch them, one aggregates them, slowly. Two bounded channels between them keep those in
 * front from running ahead: few pages are in memory at any time. Stopped in the middle, it leaves nothing behind.
 * `samples.java.Pipeline` is the same in Java.
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

    /** Until there are no more pages, or [enough] are done. */
    private suspend fun aggregate(enough: Int) {
        for (page in pages) {
            ledger.stuck().await()
            server.count(page).await() // What is in front could go on meanwhile, if the channel were not full.
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
        work.cancelAndJoin() // Their requests are aborted, and what waits to be sent is not sent.
        links.cancel()
        pages.cancel() // What is inside goes to onDropped.
    }

    companion object {
        private const val FETCHERS = 3
        private const val LINKS = 10
        private const val PAGES = 4

        /** The channel full, one in the hands of each fetcher, one in those of the aggregator. */
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

        /** The exit code: 0 if no run had too many pages in memory, lost one or left something behind. */
        @JvmStatic
        fun run(args: Array<String>, out: PrintStream, err: PrintStream): Int = Cli.runWithoutOptions(args, err) {
            val whole = run(out, "All pages", PageServer.PAGES, PageServer.PAGES)
            // When the aggregator has enough, one fetcher waits for its answer, and the others to send.
            val half = run(out, "Stopped after $ENOUGH pages", ENOUGH + BOUND - 2, ENOUGH)
            whole && half
        }

        @JvmStatic
        fun main(args: Array<String>) = Cli.exit(run(args, System.out, System.err))
    }
}
