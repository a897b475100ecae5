package baton.scheduler.schedule

/** The data of an entry. Its bytes are never changed: those of a caller are copied, and a caller gets a copy. */
internal object EntryData {
    const val MOST_BYTES = 65_536

    /** A copy of [data], which the caller may change afterwards. */
    fun copyOf(data: ByteArray?): ByteArray? {
        requireFits(data)
        return data?.clone()
    }

    fun requireFits(data: ByteArray?) {
        require(data == null || data.size <= MOST_BYTES) {
            "data has ${data?.size} bytes, must have at most $MOST_BYTES"
        }
    }
}
