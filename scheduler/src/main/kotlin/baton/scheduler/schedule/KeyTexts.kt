package baton.scheduler.schedule

import baton.scheduler.KeyCodec

/** The texts of keys in the rows of a store. */
internal object KeyTexts {
    /** @throws IllegalArgumentException for whatever the codec throws: it concerns this key alone. */
    fun <K : Any> of(key: K, codec: KeyCodec<K>): String =
        try {
            codec.encode(key)
        } catch (e: Exception) {
            throw IllegalArgumentException("key = ${shown(key)} cannot be encoded by the codec $codec", e)
        }

    private fun shown(key: Any): String =
        try {
            key.toString()
        } catch (e: Exception) {
            "(a ${key.javaClass.name}, whose toString throws $e)"
        }
}
