@file:JvmName("FlightBridge")

package baton.bridge

import baton.InternalBatonApi
import baton.tasks.SingleFlight
import baton.tasks.core.SharedRunCore
import baton.waiting.WaitCore
import baton.waiting.keys.KeyEntry
import java.util.concurrent.Callable
import kotlin.coroutines.CoroutineContext

/** A caller's part in the run of a key of a [SingleFlight], for futures and threads: until [leave]. */
@InternalBatonApi
public class FlightCaller<V>
internal constructor(private val flight: SingleFlight<*, V>, private val entry: KeyEntry<SharedRunCore>) {
    /** At which the caller waits; the grant is the value. */
    public val core: WaitCore
        get() = entry.value

    /** Whether this caller begins the run, and is to end it. */
    public val begins: Boolean = entry.value.tryStart()

    /** Runs [load], which must not wait for the run, on this thread. */
    @Throws(Exception::class) public fun <R> runInside(load: Callable<R>): R = entry.value.runInside { load.call() }

    /** [action] is called once the last caller has left a run that has not ended. */
    public fun onAbandoned(action: Runnable) {
        entry.value.canceller = action
    }

    public fun succeed(value: V) {
        flight.succeed(entry, value)
    }

    public fun fail(failure: Throwable) {
        flight.end(entry, failure)
    }

    /** Once for each caller. */
    public fun leave() {
        flight.leave(entry)
    }
}

/** Throws [IllegalStateException] if this thread is inside the run. */
@InternalBatonApi
public fun <K : Any, V> enter(flight: SingleFlight<K, V>, key: K): FlightCaller<V> {
    val entry = flight.table.lease(key)
    try {
        entry.value.requireOutside()
        return FlightCaller(flight, entry)
    } catch (e: Throwable) {
        flight.leave(entry)
        throw e
    }
}

/** Whether [context] is that of the load of a [SingleFlight], or of a coroutine that the load has started. */
@InternalBatonApi public fun isInSharedRun(context: CoroutineContext): Boolean = context[SingleFlight.Inside] != null
