package baton.waiting

import baton.InternalBatonApi
import java.lang.ref.ReferenceQueue
import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap

/** Whether holders and waits are noted, and the cores at which a caller has waited since. */
@InternalBatonApi
public object DeadlockDetection {
    /**
     * The system property `baton.deadlocks`. Read once into a constant, so that the compiler drops the notes where they
     * are off.
     */
    @JvmField public val isOn: Boolean = java.lang.Boolean.getBoolean("baton.deadlocks")

    private val contended: MutableSet<WeakReference<WaitCore>> = ConcurrentHashMap.newKeySet()
    private val unreachable = ReferenceQueue<WaitCore>()

    /** A caller is about to wait at [core]. Once for each core, and not under its lock. */
    internal fun add(core: WaitCore) {
        while (true) contended.remove(unreachable.poll() ?: break)
        contended.add(WeakReference(core, unreachable))
    }

    /** Looks at each core under its lock, one after the other. Cores without a waiter are left out. */
    internal fun looks(): List<LockLook> =
        contended.mapNotNull { reference ->
            reference.get()?.let { core ->
                val look = LockLook(core::label)
                core.decide { core.lookForDeadlocks(look) }
                look.takeIf { it.waits.isNotEmpty() }
            }
        }
}
