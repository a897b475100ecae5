package baton.monitoring.core

import baton.monitoring.Alert
import baton.monitoring.Monitored
import baton.monitoring.Usage
import java.util.concurrent.CopyOnWriteArrayList

/** The listeners of a monitor, and its `onAlert`, which is called after them. Their exceptions go to [report]. */
internal class MonitorListeners(private val onAlert: (Alert) -> Unit, private val report: (Throwable) -> Unit) :
    MonitorListener {
    private val listeners = CopyOnWriteArrayList<MonitorListener>()

    /** The watches that were there at the last look, by name. The monitor's coroutine alone uses it. */
    private var before: Map<String, Watch> = emptyMap()

    fun add(listener: MonitorListener): AutoCloseable {
        listeners += listener
        return AutoCloseable { listeners -= listener }
    }

    /** A look at the [watches] begins. */
    fun begin(watches: List<Watch>) {
        val now = watches.associateBy { it.name }
        for (watch in before.values) if (now[watch.name] !== watch) ended(watch.name, watch.type)
        before = now
    }

    override fun looked(name: String, type: String, source: Monitored?, usage: Usage): Unit = each {
        it.looked(name, type, source, usage)
    }

    override fun ended(name: String, type: String): Unit = each { it.ended(name, type) }

    override fun alerted(alert: Alert) {
        each { it.alerted(alert) }
        guarded { onAlert(alert) }
    }

    override fun closed(): Unit = each { it.closed() }

    private inline fun each(call: (MonitorListener) -> Unit) {
        for (listener in listeners) guarded { call(listener) }
    }

    private inline fun guarded(call: () -> Unit) {
        try {
            call()
        } catch (e: Throwable) {
            report(e)
        }
    }
}
