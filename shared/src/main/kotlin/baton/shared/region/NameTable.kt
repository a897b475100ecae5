package baton.shared.region

import baton.shared.SharedRegionException

/**
 * The names of a region. All under the init lock.
 *
 * A name belongs to a scope: locks and their kin share one, pieces of bytes have another, and the conditions of each
 * mutex have their own. So the mutex "counter" and its bytes "counter" go together, and a mutex cannot be opened as a
 * semaphore. An entry is complete before the count covers it: a process killed in between leaves nothing but a piece
 * that is never used.
 */
internal class NameTable(private val file: RegionFile) {
    private val words = file.words

    /**
     * Finds the entry of [name], or adds it; [initialise] then gets its zeroed words before any other process.
     *
     * @throws SharedRegionException if it is there with another kind or number, or there is no room.
     */
    fun findOrAdd(request: NameRequest, initialise: (SharedObject) -> Unit): SharedObject {
        val name = request.name.encodeToByteArray()
        val count = words.getInt(RegionLayout.NAME_COUNT_AT)
        for (index in 0 until count) {
            if (isNamed(index, request.scope, name)) return open(index, request)
        }
        if (count >= RegionLayout.NAME_CAPACITY) {
            throw SharedRegionException("${file.path}: no room for $request, all $count names are in use")
        }
        val size = pieceBytes(request)
        val piece = if (size == 0) 0 else file.allocate(size, request.toString())
        write(count, request, name, piece)
        val added = objectAt(count, request)
        initialise(added)
        words.setInt(RegionLayout.NAME_COUNT_AT, count + 1)
        return added
    }

    private fun isNamed(index: Int, scope: Int, name: ByteArray): Boolean {
        val at = RegionLayout.entryAt(index)
        if (words.getInt(at + RegionLayout.ENTRY_SCOPE) != scope) return false
        if (words.getInt(at + RegionLayout.ENTRY_NAME_LENGTH) != name.size) return false
        return name.indices.all { words.bytes().get(at + RegionLayout.ENTRY_NAME + it) == name[it] }
    }

    private fun open(index: Int, request: NameRequest): SharedObject {
        val at = RegionLayout.entryAt(index)
        val kind = ObjectKind.of(words.getInt(at + RegionLayout.ENTRY_KIND))
        val number = words.getLong(at + RegionLayout.ENTRY_NUMBER).toInt()
        if (kind != request.kind || number != request.number) {
            val found = kind?.describe(number) ?: "something unknown"
            throw SharedRegionException(
                "${file.path}: '${request.name}' is a $found, not a ${request.kind.describe(request.number)}"
            )
        }
        return objectAt(index, request)
    }

    private fun write(index: Int, request: NameRequest, name: ByteArray, piece: Long) {
        val at = RegionLayout.entryAt(index)
        words.setInt(at + RegionLayout.ENTRY_KIND, request.kind.code)
        words.setInt(at + RegionLayout.ENTRY_SCOPE, request.scope)
        words.setLong(at + RegionLayout.ENTRY_PIECE, piece)
        words.setLong(at + RegionLayout.ENTRY_NUMBER, request.number.toLong())
        words.setInt(at + RegionLayout.ENTRY_NAME_LENGTH, name.size)
        name.forEachIndexed { offset, byte -> words.bytes().put(at + RegionLayout.ENTRY_NAME + offset, byte) }
        val wordsAt = RegionLayout.objectAt(index)
        for (offset in 0 until RegionLayout.OBJECT_BYTES step Long.SIZE_BYTES) words.setLong(wordsAt + offset, 0)
    }

    private fun objectAt(index: Int, request: NameRequest): SharedObject {
        val size = pieceBytes(request)
        val piece = words.getLong(RegionLayout.entryAt(index) + RegionLayout.ENTRY_PIECE)
        val table = if (size == 0) null else Words(file.map(piece, size))
        return SharedObject(index, words.slice(RegionLayout.objectAt(index), RegionLayout.OBJECT_BYTES), table)
    }

    private fun pieceBytes(request: NameRequest): Int {
        if (request.kind == ObjectKind.BYTES) return request.number
        return if (request.kind.hasTable) TABLE_BYTES else 0
    }

    private companion object {
        const val TABLE_BYTES = RegionLayout.SLOT_COUNT * Long.SIZE_BYTES
    }
}
