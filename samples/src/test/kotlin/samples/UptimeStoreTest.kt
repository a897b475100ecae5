package samples

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD

/** UptimeMonitor with its state in a database. */
@Timeout(300, threadMode = SEPARATE_THREAD)
class UptimeStoreTest : UptimeRun() {
    @Test
    fun store_inADatabase_theNextRunCarriesOn_andASecondIsRefused() {
        val all = List(6) { "fast-$it http://fast.demo/$it 60s NORMAL" }.toTypedArray()
        for (url in listOf("jdbc:sqlite:$directory/checks.db", "jdbc:h2:$directory/checks")) {
            write(*all)
            val first = run("--for", "1s", "--store", url)
            assertEquals("", first.err)
            assertTrue("found 0 endpoints in its state $url\n" in first.out, first.out)
            write(*all.copyOf(5).requireNoNulls())
            val second = run("--for", "1s", "--store", url)
            assertTrue("found 6 endpoints in its state $url\n" in second.out, second.out)
        }
        val url = "jdbc:sqlite:$directory/checks.db"
        val child = start("--for", "10m", "--store", url)
        child.inputReader().awaitLine("watching 5 endpoints of $file")
        val refused = run("--store", url)
        val owner = "Schedule 'checks', process ${child.pid()} on "
        assertTrue(
            refused.err.startsWith("cannot use the state $url: table uptime_monitor is owned by $owner"),
            refused.err,
        )
        assertEquals(1, refused.exitCode)
        child.destroyForcibly().waitFor()
    }

    @Test
    fun store_ofAnotherDatabase_isWrongUsage() {
        write("fast-01 http://fast.demo/01 60s HIGH")
        val outcome = run("--store", "jdbc:mysql://localhost/checks")
        assertTrue("--store must begin with jdbc:sqlite:" in outcome.err, outcome.err)
        assertEquals(2, outcome.exitCode)
    }
}
