package baton.scheduler.jdbc

import baton.scheduler.Trigger
import baton.scheduler.jdbc.databases.SqliteDatabase
import baton.scheduler.jdbc.databases.TestDatabase
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.async
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

class SqliteScheduleStoreTest : JdbcScheduleStoreContract() {
    override fun database(): TestDatabase = SqliteDatabase(directory)

    @Test
    fun fileThatIsLocked_isWaitedFor() = runBlocking {
        val store = fixture.openOnIo()
        store.load(0)
        fixture.begin().use { holder ->
            holder.createStatement().use { it.execute("UPDATE checks_revision SET value = value") }
            val edit = async { store.edit("a", Trigger.every(1.minutes)) }
            assertNull(withTimeoutOrNull(100.milliseconds) { edit.join() })
            holder.commit()
            edit.await()
        }
        assertEquals(listOf("a"), store.load(0).map { it.key })
    }

    @Test
    fun writersAtTheSameTime_loseNothing_andHaveRevisionsOfTheirOwn() = runBlocking {
        val writers = List(2) { fixture.openOnIo() }
        val jobs =
            writers.mapIndexed { i, store -> launch { repeat(100) { store.edit("$i $it", Trigger.every(1.minutes)) } } }
        jobs.joinAll()
        val rows = fixture.open().load(0)
        assertEquals(200, rows.map { it.revision }.toSet().size)
        assertEquals(200, rows.size)
    }
}
