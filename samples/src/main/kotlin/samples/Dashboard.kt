package samples

import baton.sync.Barrier
import baton.sync.BarrierBrokenException
import java.io.IOException
import java.io.PrintStream
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.future.await
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import samples.support.Cli
import samples.support.Page
import samples.support.WidgetServer

/**
 * Three widgets are loaded at the same time and meet at a barrier; the last one renders the page. A widget that cannot
 * be loaded breaks the barrier, and the others get its failure instead of waiting for ever. `samples.java.Dashboard` is
 * the same in Java.
 */
object Dashboard {
    private val WIDGETS = listOf("news", "stocks", "weather")

    private suspend fun show(widget: String, server: WidgetServer, page: Page, barrier: Barrier) {
        try {
            page.put(widget, server.load(widget).await())
        } catch (failure: IOException) {
            barrier.abort(failure)
            page.ended(widget, "not loaded: ${failure.message}")
            return
        }
        try {
            barrier.arrive()
            page.ended(widget, "shown")
        } catch (broken: BarrierBrokenException) {
            page.ended(widget, "not shown: ${broken.cause?.message}")
        }
    }

    private fun open(out: PrintStream, title: String, outOfOrder: String): Boolean {
        val page = Page()
        val barrier = Barrier(WIDGETS.size) { page.render() }
        WidgetServer(outOfOrder).use { server ->
            runBlocking { coroutineScope { for (widget in WIDGETS) launch { show(widget, server, page, barrier) } } }
        }
        return page.report(out, title)
    }

    /** Returns the exit code: 0 if the page was rendered once with all widgets, and never without one of them. */
    fun run(args: Array<String>, out: PrintStream, err: PrintStream): Int =
        Cli.runWithoutOptions(args, err) {
            val whole = open(out, "All widgets can be loaded", outOfOrder = "")
            val half = open(out, "The news cannot be loaded", outOfOrder = "news")
            whole && !half
        }

    @JvmStatic fun main(args: Array<String>) = Cli.exit(run(args, System.out, System.err))
}
