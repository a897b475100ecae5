package baton.sync

import kotlin.time.Duration

internal fun requireNotNegative(timeout: Duration) {
    require(!timeout.isNegative()) { "timeout = $timeout, must not be negative" }
}

/** An object of the user in a message of ours, which must come through also if its `toString` throws. */
internal fun nameOf(owner: Any): String =
    try {
        owner.toString()
    } catch (_: Throwable) {
        "${owner.javaClass.name}@${Integer.toHexString(System.identityHashCode(owner))}"
    }
