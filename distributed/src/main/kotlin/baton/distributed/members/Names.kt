package baton.distributed.members

import baton.distributed.StoredDocument
import baton.distributed.rules.EndedState
import baton.distributed.rules.NamesState

/**
 * The keys of the locks that are in use, by which a lock whose document has vanished is told from a new one.
 *
 * A lock ends in three writes: its document becomes an [EndedState], its key leaves the names, the document goes. A
 * member that finds an ended document does the last two, too. So a key is missing only while nothing is granted of its
 * document. The names are written only if they are as they were before a look at the ended document: after another
 * member has finished the end and begun the lock anew they have changed.
 */
internal class Names(private val cluster: ClusterCore) {
    private val calls
        get() = cluster.calls

    /** Whether the lock had been in no use, and a number above which its tokens begin. */
    class Registration(val isNew: Boolean, val fence: Long)

    private class Page(val key: String, val document: StoredDocument?, val names: NamesState)

    /** From now on the lock [key] is in use. */
    suspend fun register(key: String): Registration {
        while (true) {
            val page = pageOf(key)
            if (key in page.names.keys()) return Registration(false, page.names.fence())
            if (write(page, page.names.with(key))) return Registration(true, page.names.fence())
        }
    }

    /** Removes the lock [key], of which the store has the ended [document]; unless another member has. */
    suspend fun remove(key: String, document: StoredDocument, end: EndedState) {
        while (true) {
            val page = pageOf(key)
            if (key !in page.names.keys()) break
            if (calls.call { read(key) }.map { it.version() }.orElse(0) != document.version()) return
            if (write(page, page.names.without(key, end.fence()))) break
        }
        calls.call { delete(key, document.version()) }
    }

    private suspend fun pageOf(key: String): Page {
        val pageKey = cluster.keyOf("names", NamesState.indexOf(key).toString())
        val document = calls.call { read(pageKey) }.orElse(null)
        val names = document?.let { parsed(pageKey, it) { text -> NamesState.parse(text) } }
        return Page(pageKey, document, names ?: NamesState(emptyList(), 0))
    }

    private suspend fun write(page: Page, names: NamesState): Boolean {
        val expected = page.document?.version() ?: 0
        val version = if (expected == 0L) calls.call { now() } else expected + 1
        val next = StoredDocument(version, names.toText())
        return calls.call { compareAndSet(page.key, expected, next, emptyList()) }.isStored
    }
}
