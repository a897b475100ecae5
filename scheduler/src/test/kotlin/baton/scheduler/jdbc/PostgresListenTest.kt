package baton.scheduler.jdbc

import baton.scheduler.Trigger
import baton.scheduler.jdbc.databases.FaultySource
import baton.scheduler.jdbc.databases.JdbcStoreFixture
import baton.scheduler.jdbc.databases.PostgresDatabase
import baton.scheduler.jdbc.databases.eventually
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Edits by notification: the poll of these stores would come after an hour. */
class PostgresListenTest {
    private val listeners =
        "SELECT COUNT(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid()"

    @Test
    fun edits_arriveWithoutAPoll_alsoThoseOfPlainSql_andAfterTheConnectionBroke() =
        JdbcStoreFixture(PostgresDatabase()).use { fixture ->
            runBlocking {
                val source = FaultySource(fixture.database.source)
                val store = fixture.open(source, pollEdits = 1.hours)
                store.load(0)
                val edits = Channel<String>(Channel.UNLIMITED)
                val collection = launch { store.edits().collect { rows -> for (row in rows) edits.send(row.key) } }
                val before = fixture.number(listeners)
                eventually { fixture.number(listeners) > 0 }
                delay(1)
                val queries = source.queries.get()
                val other = fixture.open()
                withTimeout(2.minutes) {
                    other.edit("a", Trigger.every(1.minutes))
                    assertEquals("a", edits.receive())
                    fixture.execute(
                        "INSERT INTO checks (entry_key, trigger_text, priority, next_due, paused_by, deleted, revision, writer) " +
                            "VALUES ('b', 'every PT5M', 'HIGH', NULL, NULL, FALSE, " +
                            "nextval('checks_revision'), 'psql') ON CONFLICT (entry_key) DO UPDATE SET " +
                            "trigger_text = excluded.trigger_text, revision = nextval('checks_revision')",
                        "INSERT INTO checks_edits (entry_key, revision, writer) VALUES ('b', 1, 'psql')",
                    )
                    assertEquals("b", edits.receive())
                    val polls = source.queries.get() - queries
                    assertTrue(polls in 2L..3L, "$polls queries for two edits, and $before listeners before")
                    // The server ends the connection that listens, and the store opens another, each time that the
                    // connection has worked. Until it has ended it may deliver one more edit, hence the wait of 10 s.
                    repeat(2) {
                        val ended =
                            fixture.number(
                                "SELECT COUNT(*) FILTER (WHERE pg_terminate_backend(pid, 10000)) " +
                                    "FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid()"
                            )
                        assertTrue(ended > 0, "no connection that listened has ended")
                        other.edit("c", Trigger.every(1.minutes))
                        assertEquals("c", edits.receive())
                        eventually { fixture.number(listeners) > 0 }
                        other.edit("d", Trigger.every(1.minutes))
                        assertEquals("d", edits.receive())
                    }
                }
                assertNull(edits.tryReceive().getOrNull())
                collection.cancel()
                collection.join()
                store.close()
                assertEquals(0, source.open)
            }
        }
}
