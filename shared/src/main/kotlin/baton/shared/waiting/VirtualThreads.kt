package baton.shared.waiting

import java.lang.invoke.MethodHandle
import java.lang.invoke.MethodHandles
import java.lang.invoke.MethodType

/** `Thread.isVirtual` of Java 21, which is not there when this is compiled. */
internal object VirtualThreads {
    private val isVirtual: MethodHandle? =
        try {
            val type = MethodType.methodType(Boolean::class.javaPrimitiveType)
            MethodHandles.publicLookup().findVirtual(Thread::class.java, "isVirtual", type)
        } catch (_: NoSuchMethodException) {
            null
        }

    fun isCurrent(): Boolean = isVirtual != null && isVirtual.invokeWithArguments(Thread.currentThread()) == true
}
