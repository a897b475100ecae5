@file:JvmSynthetic

package baton.monitoring.core

import baton.InternalBatonApi
import baton.monitoring.Monitored
import baton.waiting.WaitCore
import java.lang.ref.ReferenceQueue
import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap

/** The objects with a name that are in memory, for a dump of their waits. Keeps none of them in memory. */
internal object NamedObjects {
    private val objects: MutableSet<NamedObject> = ConcurrentHashMap.newKeySet()
    private val unreachable = ReferenceQueue<Monitored>()

    fun add(source: Monitored, core: WaitCore?) {
        while (true) objects.remove(unreachable.poll() ?: break)
        objects += NamedObject(source, core, unreachable)
    }

    fun all(): List<NamedObject> = objects.toList()
}

/** @param core at which its callers wait; null if it has none. It is in memory as long as the object. */
internal class NamedObject(source: Monitored, core: WaitCore?, queue: ReferenceQueue<Monitored>) :
    WeakReference<Monitored>(source, queue) {
    private val coreReference = core?.let(::WeakReference)

    val core: WaitCore?
        get() = coreReference?.get()
}

/** Called at the end of the constructor of an object whose callers wait at [core], if any. */
@InternalBatonApi
public fun Monitored.listIfNamed(core: WaitCore?) {
    if (name != null) NamedObjects.add(this, core)
}
