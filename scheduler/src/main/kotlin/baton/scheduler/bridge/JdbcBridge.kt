@file:JvmName("JdbcBridge")

package baton.scheduler.bridge

import baton.InternalBatonApi
import baton.Priority
import baton.scheduler.JdbcScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.ScheduleEditor
import baton.scheduler.Trigger
import baton.waiting.threads.LimitedViews
import baton.waiting.threads.LoopKeeper
import baton.waiting.threads.Trampoline
import java.sql.Connection
import java.sql.SQLException
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executor
import java.util.function.Consumer
import javax.sql.DataSource
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher

// The internal API of stores in databases for Baton's Java API.

/** Its calls run on [executor], or on the threads that Kotlin uses if that is null. */
@InternalBatonApi
public fun <K : Any> newJdbcStore(
    source: DataSource,
    codec: KeyCodec<K>,
    table: String,
    pollEdits: Duration?,
    executor: Executor?,
): JdbcScheduleStore<K> {
    val threads = if (executor == null) Dispatchers.IO else patient(executor, "JdbcScheduleStore '$table'")
    val poll = pollEdits?.toKotlinDuration() ?: 5.seconds
    return JdbcScheduleStore(source, codec, table, poll, LimitedViews.of(threads, 1), LimitedViews.of(threads, 1))
}

/**
 * A dispatcher over [executor]: a rejected call waits until it is accepted; after a shutdown it runs on Dispatchers.IO.
 */
private fun patient(executor: Executor, label: String): CoroutineDispatcher {
    val dispatcher = executor.asCoroutineDispatcher()
    return LoopKeeper(dispatcher, label, Trampoline::report).dispatcher as? CoroutineDispatcher ?: dispatcher
}

/** The calls of a [store] that a schedule does not make, each as a future. */
@InternalBatonApi
public class JdbcCalls<K : Any>(private val store: JdbcScheduleStore<K>) {
    public fun createTables(): CompletableFuture<Void?> = callOf { store.createTables() }

    public fun edit(key: K, trigger: Trigger, priority: Priority, data: ByteArray?): CompletableFuture<Void?> {
        // The caller may change it after this call.
        val copy = data?.clone()
        return callOf { store.edit(key, trigger, priority, copy) }
    }

    @Throws(SQLException::class)
    public fun edit(connection: Connection, edits: Consumer<ScheduleEditor<@JvmSuppressWildcards K>>): Unit =
        store.edit(connection) { edits.accept(this) }

    public fun delete(key: K): CompletableFuture<Void?> = callOf { store.delete(key) }

    public fun close(): CompletableFuture<Void?> = callOf { store.close() }
}
