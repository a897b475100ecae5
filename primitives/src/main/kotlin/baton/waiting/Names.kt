@file:JvmSynthetic

package baton.waiting

/** The object in messages: its [kind], and its [name] if it has one. */
internal fun labelOf(kind: String, name: String?): String = if (name == null) kind else "$kind '$name'"

/**
 * The text for [owner], an object of the user, in a message. It is the object's identity if its `toString` throws, or
 * if that `toString` prints the primitive that is just printing it (an account, say, that locks its own mutex as the
 * owner), which would recurse without end.
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
