package baton.scheduler.jdbc.crash

import baton.scheduler.JdbcScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.Trigger
import java.time.Instant

/** A process that edits in its own transaction, says so before or after the commit, and waits to be killed. */
internal object EditingChild {
    fun start(url: String, until: String): Process = ChildJvm.start(javaClass.name, url, until)

    @JvmStatic
    fun main(args: Array<String>) {
        val source = UrlSource(args[0])
        val store = JdbcScheduleStore(source, KeyCodec.STRING, "checks")
        source.connection.use { connection ->
            connection.autoCommit = false
            connection.createStatement().use { it.execute("INSERT INTO orders VALUES (1)") }
            store.edit(connection) {
                put("a", Trigger.at(Instant.parse("2100-01-01T00:00:00Z")), data = "child".encodeToByteArray())
            }
            if (args[1] == "commit") connection.commit()
            println("done")
            // Ends when the parent does.
            while (System.`in`.read() >= 0) Thread.yield()
        }
    }
}
