package baton.test.assertions

import baton.monitoring.Monitored
import java.lang.reflect.InvocationTargetException

/**
 * The object behind the [target] of an assertion. Objects of the Java API, which this module does not know, have it as
 * `kotlin()`.
 *
 * @throws IllegalArgumentException if there is nothing to assert about it.
 */
internal fun monitoredOf(target: Any): Monitored {
    val behind = if (target.javaClass.name.startsWith("baton.interop.")) kotlinOf(target) else target
    return requireNotNull(behind as? Monitored) {
        "$target, a ${target.javaClass.name}, is not Monitored: pass an object of Baton, such as a baton.sync.Semaphore"
    }
}

private fun kotlinOf(target: Any): Any? =
    try {
        target.javaClass.getMethod("kotlin").invoke(target)
    } catch (_: NoSuchMethodException) {
        null
    } catch (e: InvocationTargetException) {
        throw e.targetException
    }
