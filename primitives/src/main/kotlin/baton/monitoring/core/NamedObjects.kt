@file:JvmSynthetic

package baton.monitoring.core

import baton.InternalBatonApi
import baton.monitoring.Monitored
import baton.waiting.WaitCore
import baton.waiting.keys.KeyTable
import java.lang.ref.ReferenceQueue
import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap

/** The objects with a name that are in memory, for a dump of their waits. Keeps none of them in memory. */
internal object NamedObjects {
    private val all: MutableSet<Named<*>> = ConcurrentHashMap.newKeySet()
    val unreachable = ReferenceQueue<Any>()

    fun add(named: Named<*>) {
        while (true) all.remove(unreachable.poll() ?: break)
        all += named
    }

    /** Calls [visit] for each object with its name, and with the core at which its callers wait, if it has one. */
    fun forEach(visit: (Monitored, WaitCore?) -> Unit) {
        for (named in all) named.forEach(visit)
    }
}

/** One that is in memory, or many. */
internal sealed class Named<T : Any>(named: T) : WeakReference<T>(named, NamedObjects.unreachable) {
    abstract fun forEach(visit: (Monitored, WaitCore?) -> Unit)
}

/** @param core is in memory as long as the object. */
private class NamedObject(source: Monitored, core: WaitCore?) : Named<Monitored>(source) {
    private val core = core?.let(::WeakReference)

    override fun forEach(visit: (Monitored, WaitCore?) -> Unit) {
        visit(get() ?: return, core?.get())
    }
}

/** The objects for whose keys callers wait: there may be very many others. */
private class NamedKeys<T : Monitored>(table: KeyTable<*, T>, private val coreOf: (T) -> WaitCore) :
    Named<KeyTable<*, T>>(table) {
    override fun forEach(visit: (Monitored, WaitCore?) -> Unit) {
        for (value in get()?.values.orEmpty()) {
            val core = coreOf(value)
            if (core.isAwaited) visit(value, core)
        }
    }
}

/** Called at the end of the constructor of an object whose callers wait at [core], if any. */
@InternalBatonApi
public fun Monitored.listIfNamed(core: WaitCore?) {
    if (name != null) NamedObjects.add(NamedObject(this, core))
}

/** As the other, for objects by key. */
internal fun <T : Monitored> KeyTable<*, T>.listIfNamed(coreOf: (T) -> WaitCore) {
    if (name != null) NamedObjects.add(NamedKeys(this, coreOf))
}
