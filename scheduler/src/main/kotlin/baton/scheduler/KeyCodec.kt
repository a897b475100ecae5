package baton.scheduler

/**
 * The keys of a [Schedule] as text, for stores that keep text.
 *
 * ```
 * val urls = object : KeyCodec<URI> {
 *     override fun encode(key: URI) = key.toString()
 *     override fun decode(text: String) = URI.create(text)
 * }
 * ```
 *
 * `decode(encode(key))` must equal `key`, and different keys must have different texts. Any thread may call it.
 */
public interface KeyCodec<K : Any> {
    /** The text of [key]; a store may limit its length, see [JournalScheduleStore]. */
    public fun encode(key: K): String

    /** @throws IllegalArgumentException if [text] is not the text of a key. */
    public fun decode(text: String): K

    public companion object {
        /** A string is its own text. */
        public val STRING: KeyCodec<String> =
            object : KeyCodec<String> {
                override fun encode(key: String) = key

                override fun decode(text: String) = text

                override fun toString() = "STRING"
            }

        /** Decimal digits. */
        public val LONG: KeyCodec<Long> =
            object : KeyCodec<Long> {
                override fun encode(key: Long) = key.toString()

                override fun decode(text: String) = text.toLong()

                override fun toString() = "LONG"
            }
    }
}
