package baton.tasks

import baton.waiting.Symbol
import java.util.concurrent.atomic.AtomicReference

/**
 * A value that is loaded once, by a function that may suspend: `lazy` for coroutines, made by [suspendingLazy].
 *
 * ```
 * val config = suspendingLazy { loadConfig() }
 * val port = config.get().port
 * ```
 *
 * *Load.* The first [get] begins it, and further callers wait for it; see [SingleFlight] for its context. A caller that
 * is cancelled leaves the load to the others; the last one to leave cancels it. If the load fails or is cancelled, the
 * next caller begins another one. Once it has succeeded the value stays, and the load function is not kept. A load that
 * ignores its cancellation may go on beside the next one: the first value stays, and the other is dropped.
 *
 * *Memory.* Actions of the load happen before the actions that follow [get]. All members may be called from any thread.
 */
public class SuspendingLazy<T> internal constructor(private val name: String?, load: suspend () -> T) {
    private val flight = SingleFlight<String, T>().apply { kind = "suspendingLazy" }

    /** Null once the value is there. */
    @Volatile private var load: (suspend () -> T)? = load

    private val value = AtomicReference<Any?>(NONE)

    /**
     * The value, which is loaded if it is not there.
     *
     * *Cancellation.* Throws if this has to wait.
     *
     * @throws IllegalStateException as [SingleFlight.run].
     */
    public suspend fun get(): T {
        val value = value.get()
        @Suppress("UNCHECKED_CAST")
        return if (value !== NONE) value as T else flight.run(name ?: "value") { loadOnce() }
    }

    /** A caller may begin a run although another one has succeeded since it found no value. */
    @Suppress("UNCHECKED_CAST")
    private suspend fun loadOnce(): T {
        val load = load
        if (load != null && value.compareAndSet(NONE, load())) this.load = null
        return value.get() as T
    }

    override fun toString(): String {
        val value = value.get()
        return if (value === NONE) "suspendingLazy (not loaded)" else "$value"
    }

    private companion object {
        private val NONE = Symbol("NONE")
    }
}

/**
 * A value that [load] is called for at the first [SuspendingLazy.get].
 *
 * @param name shown by messages.
 */
public fun <T> suspendingLazy(name: String? = null, load: suspend () -> T): SuspendingLazy<T> =
    SuspendingLazy(name, load)
