package baton.shared.region

/**
 * The kind of object that a name stands for.
 *
 * @property code the number in the file. Never change one.
 * @property label for messages.
 * @property numberLabel what the number of the entry means; null when it has none.
 * @property hasTable whether it has a table of one `Long` for each slot beside its 64 bytes.
 */
internal enum class ObjectKind(val code: Int, val label: String, val numberLabel: String?, val hasTable: Boolean) {
    MUTEX(1, "mutex", null, false),
    SEMAPHORE(2, "semaphore", "permits", true),
    CONDITION(3, "condition", null, false),
    BARRIER(4, "barrier", "parties", true),
    WAIT_GROUP(5, "wait group", null, true),
    BYTES(6, "piece of bytes", "size", false);

    fun describe(number: Int): String = if (numberLabel == null) label else "$label of $numberLabel = $number"

    companion object {
        private val kinds = values()

        fun of(code: Int): ObjectKind? = kinds.firstOrNull { it.code == code }
    }
}
