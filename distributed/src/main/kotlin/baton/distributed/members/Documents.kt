package baton.distributed.members

import baton.distributed.StoredDocument

/** The content of [document]. A document that another program has written is named, not its text. */
internal fun <T> parsed(key: String, document: StoredDocument, parse: (String) -> T): T =
    try {
        parse(document.text())
    } catch (e: IllegalArgumentException) {
        throw IllegalStateException("the document $key is not one of Baton's: ${e.message}", e)
    }
