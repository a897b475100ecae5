package baton.waiting.clock

import java.lang.reflect.Method

/**
 * kotlinx-coroutines-test, whose classes are reached by their names, because it is no dependency. Tested against 1.8.1,
 * 1.10.2 and 1.11.0.
 */
internal class TestLibrary private constructor(private val dispatcher: Class<*>) {
    private val scheduler: Method = dispatcher.getMethod("getScheduler")
    private val millis: Method = scheduler.returnType.getMethod("getCurrentTime")
    private val newDispatcher: Method =
        load("TestCoroutineDispatchersKt").getMethod("StandardTestDispatcher", scheduler.returnType, String::class.java)

    /** Null if [dispatcher] is not one of the library. */
    fun schedulerOf(dispatcher: Any): Any? =
        if (this.dispatcher.isInstance(dispatcher)) scheduler.invoke(dispatcher) else null

    /**
     * The scheduler to whose dispatcher `Dispatchers.Main` was set, if it was: then two dispatchers that are made
     * without a scheduler have that one.
     */
    fun schedulerOfMain(): Any? {
        val first = schedulerOf(newDispatcher.invoke(null, null, null))
        return first.takeIf { it === schedulerOf(newDispatcher.invoke(null, null, null)) }
    }

    fun isScheduler(element: Any): Boolean = scheduler.returnType.isInstance(element)

    fun millisOf(scheduler: Any): Long = millis.invoke(scheduler) as Long

    companion object {
        const val NAME = "kotlinx.coroutines.test."

        /** Null if it is not there, or of an unknown version. */
        fun find(): TestLibrary? =
            try {
                TestLibrary(load("TestDispatcher"))
            } catch (_: ReflectiveOperationException) {
                null
            } catch (_: LinkageError) {
                null
            }

        private fun load(name: String) = Class.forName(NAME + name, false, TestLibrary::class.java.classLoader)
    }
}
