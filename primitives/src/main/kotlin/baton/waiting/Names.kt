@file:JvmSynthetic

package baton.waiting

/** The object in messages: its [kind], and its [name] if it has one. */
internal fun labelOf(kind: String, name: String?): String = if (name == null) kind else "$kind '$name'"

internal const val NOT_LOCKED = "not locked"

/** That [owner] has made a [call] for which it must hold [label], which is in another [state]. */
internal fun wrongOwner(call: String, owner: Any?, label: String, state: String): String {
    val asked = if (owner != null) " by ${nameOf(owner)}" else if (state == NOT_LOCKED) "" else " without an owner"
    return "$call$asked of $label, which is $state"
}

/**
 * The state of a lock that [holder] holds, for a caller that gave the owner [asked]. Owners are compared by identity.
 */
internal fun lockedBy(holder: Any, asked: Any?): String {
    val name = nameOf(holder)
    val isTwin = asked != null && asked !== holder && nameOf(asked) == name
    return if (isTwin) "locked by another object that reads the same" else "locked by $name"
}

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
