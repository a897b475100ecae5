package guide.readme

import baton.sync.Semaphore
import baton.sync.withPermit

/** The Kotlin code of README.md; `MarkdownTest` compares the two. */
class ReadmeSnippets(private val client: Client) {
    interface Client {
        suspend fun get(path: String): String
    }

    val atMostFive = Semaphore(permits = 5)

    suspend fun fetch(path: String): String = atMostFive.withPermit { client.get(path) }
}
