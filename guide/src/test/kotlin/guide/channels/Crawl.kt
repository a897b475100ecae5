package guide.channels

import baton.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch

suspend fun crawl(urls: List<String>, fetch: suspend (String) -> String, index: suspend (String) -> Unit) =
    coroutineScope {
        val pages = Channel<String>(capacity = 10)
        launch { for (page in pages) index(page) }
        for (url in urls) pages.send(fetch(url))
        pages.close() // ends the loop of the receiver
    }
