package guide.troubleshooting

import baton.scheduler.JdbcScheduleStore
import baton.scheduler.JournalDamagedException
import baton.scheduler.JournalLockedException
import baton.scheduler.JournalScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleOwnedException
import baton.scheduler.TaskScheduler
import baton.scheduler.Trigger
import java.nio.file.Files
import java.nio.file.Path
import java.sql.SQLException
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.supervisorScope
import org.h2.jdbcx.JdbcDataSource

fun schedulerMessages(folder: Path): List<Message> = schedules() + journals(folder) + tables() + tasks()

private fun schedules() =
    listOf(
        message<IllegalStateException>("… runs already, or …: run is called once") {
            val schedule = Schedule<String> {}
            coroutineScope {
                val first = launch { schedule.run() }
                try {
                    delay(1.milliseconds)
                    schedule.run()
                } finally {
                    first.cancel()
                }
            }
        }
    )

private fun journals(folder: Path) =
    listOf(
        message<JournalLockedException>("journal … is in use by …") {
            val path = folder.resolve("locked")
            val first = JournalScheduleStore(path, KeyCodec.STRING)
            first.load(0)
            try {
                JournalScheduleStore(path, KeyCodec.STRING).load(0)
            } finally {
                first.close()
            }
        },
        message<JournalDamagedException>("journal … cannot be read at offset …: …") {
            val path = folder.resolve("damaged")
            Files.writeString(
                path,
                "this is the text of another program, and it is longer than a header of a journal is",
            )
            JournalScheduleStore(path, KeyCodec.STRING).load(0)
        },
    )

private val quiet = ScheduleConfig(onFailure = { _, _ -> })

private fun newDatabase(name: String) = JdbcDataSource().apply { setURL("jdbc:h2:mem:$name;DB_CLOSE_DELAY=-1") }

private object NoKeys : KeyCodec<String> {
    override fun encode(key: String) = throw UnsupportedOperationException()

    override fun decode(text: String) = text
}

private fun tables() =
    listOf(
        message<IllegalArgumentException>("table = … is a keyword of …: use another name") {
            JdbcScheduleStore(newDatabase("keyword"), KeyCodec.STRING, table = "order").createTables()
        },
        message<SQLException>(
            "the tables of … are not there: call createTables, in Java that of ScheduleStores, first"
        ) {
            Schedule(JdbcScheduleStore(newDatabase("missing"), KeyCodec.STRING), config = quiet) {}.run()
        },
        message<ScheduleOwnedException>("table … is owned by …, whose last sign of life was …") {
            val database = newDatabase("owned")
            JdbcScheduleStore(database, KeyCodec.STRING).createTables()
            supervisorScope {
                val runs =
                    List(2) {
                        async { Schedule(JdbcScheduleStore(database, KeyCodec.STRING), config = quiet) {}.run() }
                    }
                try {
                    select<Unit> { runs.forEach { run -> run.onAwait {} } }
                } finally {
                    runs.forEach { it.cancelAndJoin() }
                }
            }
        },
        message<IllegalArgumentException>("key = … cannot be encoded by the codec …") {
            val store = JdbcScheduleStore(newDatabase("codec"), NoKeys)
            store.createTables()
            store.edit("report", Trigger.every(1.hours))
        },
        message<IllegalArgumentException>("connection is in auto-commit mode, must be in a transaction") {
            val database = newDatabase("transaction")
            val store = JdbcScheduleStore(database, KeyCodec.STRING)
            store.createTables()
            database.connection.use { store.edit(it) { put("report", Trigger.every(1.hours)) } }
        },
    )

private fun tasks() =
    listOf(
        message<IllegalArgumentException>(
            "context contains …, must contain no Job: a task belongs to the scheduler's scope. Pass context.minusKey(Job)"
        ) {
            TaskScheduler(CoroutineScope(Dispatchers.Default), 1).schedule(context = Job()) {}
        },
        message<CancellationException>("… was removed from the queue: …") {
            val scope = CoroutineScope(Dispatchers.Default)
            val scheduler = TaskScheduler(scope, 1).apply { pause() }
            val task = scheduler.schedule {}
            scheduler.clear()
            try {
                task.await()
            } finally {
                scope.cancel()
            }
        },
    )
