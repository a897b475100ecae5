package baton.sync

/**
 * An object of the user in a message of ours, which must come through also if its `toString` throws. One that names the
 * primitive which names it (an account that locks its own mutex as the owner, say) is called by its identity there: it
 * would go on for ever.
 */
internal fun nameOf(owner: Any): String {
    if (naming.get() != null) return identityOf(owner)
    naming.set(owner)
    return try {
        owner.toString()
    } catch (_: Throwable) {
        identityOf(owner)
    } finally {
        naming.remove()
    }
}

private val naming = ThreadLocal<Any?>()

private fun identityOf(owner: Any) = "${owner.javaClass.name}@${Integer.toHexString(System.identityHashCode(owner))}"
