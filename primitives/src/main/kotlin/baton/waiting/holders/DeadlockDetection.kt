package baton.waiting.holders

import baton.waiting.WaitCore
import java.lang.ref.ReferenceQueue
import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap

/** Whether holders and waits are noted, and the cores at which a caller has waited since. */
internal object DeadlockDetection {
    /** By the system property `baton.deadlocks` or [begin]; for good. */
    @Volatile
    var isOn: Boolean = java.lang.Boolean.getBoolean("baton.deadlocks")
        private set

    /** A lock that is held now has no note until its next holder. */
    fun begin() {
        isOn = true
        KnownCallers.begin()
    }

    private val contended: MutableSet<WeakReference<WaitCore>> = ConcurrentHashMap.newKeySet()
    private val unreachable = ReferenceQueue<WaitCore>()

    /** A caller is about to wait at [core]. Once for each core, and not under its lock. */
    fun add(core: WaitCore) {
        while (true) contended.remove(unreachable.poll() ?: break)
        contended.add(WeakReference(core, unreachable))
    }

    /** Looks at each core under its lock, one after the other. Cores without a waiter are left out. */
    fun looks(): List<LockLook> =
        contended.mapNotNull { reference -> reference.get()?.let(::LockLook)?.takeIf { it.waits.isNotEmpty() } }
}
