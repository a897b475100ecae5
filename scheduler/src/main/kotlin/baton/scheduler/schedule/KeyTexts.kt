package baton.scheduler.schedule

import baton.scheduler.KeyCodec
import baton.scheduler.tasks.nameOf

/** The texts of keys in the rows of a store. */
internal object KeyTexts {
    /** @throws IllegalArgumentException for whatever the codec throws: it concerns this key alone. */
    fun <K : Any> of(key: K, codec: KeyCodec<K>): String =
        try {
            codec.encode(key)
        } catch (e: Exception) {
            throw IllegalArgumentException("key = ${nameOf(key)} cannot be encoded by the codec $codec", e)
        }
}
