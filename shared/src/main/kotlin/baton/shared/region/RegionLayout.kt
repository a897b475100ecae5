package baton.shared.region

/**
 * Layout of a region file, version 1. All offsets in bytes, all numbers in the machine's order.
 *
 * ```
 * 0       u64 magic, stored last      8 u32 version        12 u32 byte order tag    16 u64 region size
 * 24      16 B boot id                40 u32 slots         44 u32 names             48 u32 highest slot ever claimed
 * 52      u32 names in use            56 u64 end of the pieces in use
 * 4096    slot table, 64 B each; slot 0 is never used
 * 69632   objects, 64 B each: object i belongs to name i
 * 135168  name table, 128 B each
 * 266240  pieces, aligned to 64 B: the tables of objects, and the `bytes` of users
 * ```
 *
 * The file grows by zeros that are written, and never shrinks. Everything but the words of objects and pieces changes
 * under the init lock alone. A name is there once the count of names says so, which is stored after the entry.
 */
internal object RegionLayout {
    const val MAGIC = 0x4241544F4E53484DL // "BATONSHM"
    const val VERSION = 1
    const val BYTE_ORDER_TAG = 0x01020304

    const val MAGIC_AT = 0
    const val VERSION_AT = 8
    const val BYTE_ORDER_AT = 12
    const val SIZE_AT = 16
    const val BOOT_AT = 24
    const val SLOTS_AT = 40
    const val NAMES_AT = 44
    const val HIGHEST_SLOT_AT = 48
    const val NAME_COUNT_AT = 52
    const val END_AT = 56

    const val SLOT_TABLE_AT = 4096
    const val SLOT_BYTES = 64

    /** One more than the highest slot: 10 bits of a word name a slot, and 0 stands for none. */
    const val SLOT_COUNT = 1024
    const val SLOT_GENERATION = 0
    const val SLOT_PID = 4
    const val SLOT_TICKS = 8
    const val SLOT_NAMESPACE = 16
    const val SLOT_CAPABILITIES = 24
    const val SLOT_JOINED_AT = 32
    const val CAN_WAKE = 1

    const val OBJECTS_AT = 69632
    const val OBJECT_BYTES = 64

    const val NAME_TABLE_AT = 135168
    const val NAME_CAPACITY = 1024
    const val ENTRY_BYTES = 128
    const val ENTRY_KIND = 0
    const val ENTRY_SCOPE = 4
    const val ENTRY_PIECE = 8
    const val ENTRY_NUMBER = 16
    const val ENTRY_NAME_LENGTH = 24
    const val ENTRY_NAME = 32
    const val MAX_NAME_BYTES = 64

    /** Size of a new file, and of the part that every process maps at once. */
    const val FIXED_BYTES = 266240
    const val PIECE_ALIGNMENT = 64
    const val GROWTH_BYTES = 64 * 1024
    const val MAX_PIECE_BYTES = 1024 * 1024
    const val MAX_REGION_BYTES = 64L * 1024 * 1024

    fun slotAt(slot: Int): Int = SLOT_TABLE_AT + slot * SLOT_BYTES

    fun entryAt(index: Int): Int = NAME_TABLE_AT + index * ENTRY_BYTES

    fun objectAt(index: Int): Int = OBJECTS_AT + index * OBJECT_BYTES
}
