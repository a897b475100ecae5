package baton.shared.region

/**
 * A caller's request to the [NameTable]: the name, and the object that must have it.
 *
 * @property number permits, parties or size; 0 for kinds without.
 * @throws IllegalArgumentException if the name is empty or longer than 64 bytes of UTF-8.
 */
internal data class NameRequest(val kind: ObjectKind, val scope: Int, val name: String, val number: Int = 0) {
    init {
        val bytes = name.encodeToByteArray().size
        require(bytes in 1..RegionLayout.MAX_NAME_BYTES) {
            "name '$name' has $bytes bytes of UTF-8, must have 1..${RegionLayout.MAX_NAME_BYTES}"
        }
    }

    override fun toString(): String = "${kind.label} '$name'"

    companion object {
        const val LOCKS = 0
        const val PIECES = -1

        /** Each mutex has a scope for its conditions; [mutexIndex] is that of its [SharedObject]. */
        fun ofCondition(mutexIndex: Int, name: String) = NameRequest(ObjectKind.CONDITION, mutexIndex + 1, name)
    }
}
