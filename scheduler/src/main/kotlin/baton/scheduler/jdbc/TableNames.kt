package baton.scheduler.jdbc

/** The tables of a store. The names are part of SQL text, so no other characters may come in. */
internal class TableNames(val rows: String) {
    init {
        require(rows.length in 1..LONGEST && NAME.matches(rows)) {
            "table = '$rows', must be a letter or _, and then letters, digits and _, at most $LONGEST in all"
        }
    }

    val edits = "${rows}_edits"
    val owner = "${rows}_owner"

    /** A sequence, or on SQLite a table of one row. */
    val revision = "${rows}_revision"

    /** Of PostgreSQL's notifications. */
    val channel = edits.lowercase()

    private companion object {
        /** PostgreSQL cuts a name off after 63 characters, silently. */
        const val LONGEST = 48
        val NAME = Regex("[A-Za-z_][A-Za-z0-9_]*")
    }
}
