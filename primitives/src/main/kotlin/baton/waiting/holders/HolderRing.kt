package baton.waiting.holders

/** Holders in a ring that is closed by a sentinel: to leave, a holder need not know in which ring it is. */
internal class HolderRing {
    private val end = Holder(context = null, owner = null, takenAt = null)

    val first: Holder?
        get() = end.next.takeIf { it !== end }

    fun add(holder: Holder) {
        addAll(holder, holder)
    }

    /** Moves all of [other] here. O(1). */
    fun takeAll(other: HolderRing) {
        val first = other.first ?: return
        val last = other.end.previous
        other.end.previous = other.end
        other.end.next = other.end
        addAll(first, last)
    }

    private fun addAll(first: Holder, last: Holder) {
        first.previous = end.previous
        end.previous.next = first
        last.next = end
        end.previous = last
    }

    fun forEach(action: (Holder) -> Unit) {
        var holder = end.next
        while (holder !== end) {
            action(holder)
            holder = holder.next
        }
    }
}
