package baton.monitoring

import baton.monitoring.core.WaitDump
import java.lang.management.ManagementFactory
import javax.management.InstanceAlreadyExistsException
import javax.management.InstanceNotFoundException
import javax.management.ObjectName

/**
 * Shows which callers wait at all objects that have a name, for the moment in which a program hangs and nothing watches
 * what it hangs on.
 *
 * ```
 * Waits.register()                 // at the start: the dump is an operation of the MXBean baton:type=Waits
 * log.warn(Waits.dump())
 * ```
 *
 * A dump lists each [Monitored] object of this library with a name that is in memory, the longest waits first: how much
 * is in use, and of each queue the first hundred waiters with their call, the name of the coroutine or thread, or else
 * the owner, and since when they wait. Its text only counts objects of which nothing is in use and for which no caller
 * waits. Receivers of a channel and callers of `awaitIdle` are counted apart, by their call: they take up none of the
 * capacity. With [Deadlocks.enable] it names the first hundred holders of each lock, too, since when they hold it, and
 * the calls that took it, and ends with the deadlocks that [Deadlocks.find] finds. A clause of a `select` is a waiter
 * like others. Of objects by key (`Mutexes` with a name) those are listed for whose key a caller waits. Not listed are
 * the primitives of `baton.shared`.
 *
 * *Since when.* Waits are noted from the first dump or [register] on, and always at what a [Monitor] watches. Of an
 * older wait the dump says how long it has lasted *at least*: since it was first seen.
 *
 * *Cost.* Until the first dump or [register]: a weak reference for each object with a name. From then on each call that
 * has to wait, at any object, reads the clock and allocates 16 bytes. A dump looks at one object after the other, each
 * under its internal lock.
 *
 * *Memory.* It keeps no object in memory.
 *
 * All members may be called from any thread.
 */
public object Waits {
    /** The name of the MXBean. */
    public const val OBJECT_NAME: String = "baton:type=Waits"

    /** The waits of this moment, as a text for people. Its form may change. */
    @JvmStatic public fun dump(): String = look().text()

    /**
     * The same as a JSON object: `at` (ISO 8601), `objects` with `type`, `name`, `inUse`, `capacity`, `waiting`,
     * `others` (callers that wait for something else than the capacity, such as receivers), `waits` (`call`, `caller`,
     * `millis`, and whether that is `atLeast`), `holders`, texts, and `holds` (`caller` and, if known, `millis`), and
     * `deadlocks`, texts. Later versions may add members.
     */
    @JvmStatic public fun dumpJson(): String = look().json()

    private fun look(): WaitDump {
        WaitDump.begin()
        return WaitDump(Deadlocks.find())
    }

    /**
     * Registers a [WaitsMXBean] at the platform's MBean server as [OBJECT_NAME], and notes waits from now on. The
     * returned registration, which another call returns again, ends by its `close`; an application that is undeployed
     * must close it.
     *
     * @throws IllegalStateException if the name is taken by another class loader's bean.
     */
    @JvmStatic
    @Synchronized
    public fun register(): AutoCloseable {
        WaitDump.begin()
        registration?.let {
            return it
        }
        return Registration().also { registration = it }
    }

    private var registration: Registration? = null

    private class Registration : AutoCloseable {
        private val server = ManagementFactory.getPlatformMBeanServer()

        init {
            try {
                server.registerMBean(WaitsBean(), ObjectName(OBJECT_NAME))
            } catch (e: InstanceAlreadyExistsException) {
                throw IllegalStateException("$OBJECT_NAME is registered by another class loader", e)
            }
        }

        override fun close() {
            synchronized(Waits) {
                if (registration !== this) return
                registration = null
                try {
                    server.unregisterMBean(ObjectName(OBJECT_NAME))
                } catch (_: InstanceNotFoundException) {
                    // Other code has unregistered it.
                }
            }
        }
    }

    private class WaitsBean : WaitsMXBean {
        override fun dump(): String = Waits.dump()

        override fun dumpJson(): String = Waits.dumpJson()

        override fun enableDeadlocks() = Deadlocks.enable()

        override fun isDeadlocksEnabled(): Boolean = Deadlocks.isEnabled
    }
}
