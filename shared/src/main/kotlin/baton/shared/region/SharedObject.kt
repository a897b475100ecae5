package baton.shared.region

/**
 * A named object of a region.
 *
 * @property index its number in the name table.
 * @property words its 64 bytes, on a cache line of their own. Offset 0 is the word to wait for. Each kind defines the
 *   rest.
 * @property table for kinds that have one, a `Long` for each slot, slot s at byte 8 * s; for bytes, the piece itself.
 */
internal class SharedObject(val index: Int, val words: Words, private val piece: Words?) {
    val table: Words
        get() = checkNotNull(piece) { "this kind has no table" }
}
