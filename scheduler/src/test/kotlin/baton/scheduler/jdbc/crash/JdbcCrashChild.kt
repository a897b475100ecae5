package baton.scheduler.jdbc.crash

import baton.scheduler.JdbcScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleOwnedException
import baton.scheduler.Trigger
import java.sql.DriverManager
import javax.sql.DataSource
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

/** The owner that is killed: it puts entries from a number on, and prints each number whose flush has returned. */
internal object JdbcCrashChild {
    val FLUSH_EVERY = 100.milliseconds

    fun start(url: String, first: Long): Process = ChildJvm.start(javaClass.name, url, "$first")

    fun keys(number: Long): List<String> = List(5) { "${number}_$it" }

    @JvmStatic
    fun main(args: Array<String>): Unit = runBlocking {
        val source = UrlSource(args[0])
        // The owner before was killed: its row is fresh for a while.
        while (true) {
            val store = JdbcScheduleStore(source, KeyCodec.STRING, "checks", 50.milliseconds)
            val schedule = Schedule(store, name = "owner", config = ScheduleConfig(flushEvery = FLUSH_EVERY)) {}
            val run = launch {
                try {
                    schedule.run()
                } catch (_: ScheduleOwnedException) {
                    println("refused")
                }
            }
            schedule.resync()
            if (run.isActive) work(schedule, args[1].toLong())
            delay(FLUSH_EVERY / 2)
        }
    }

    private suspend fun work(schedule: Schedule<String>, first: Long) {
        println("found ${schedule.size}")
        var number = first
        // Ends when the parent does.
        while (!System.out.checkError()) {
            for (key in keys(number)) schedule.put(key, Trigger.every(1.hours))
            schedule.flush()
            println(number++)
        }
    }
}

/** The driver of the URL, in any process. */
internal class UrlSource(private val url: String) :
    DataSource by java.lang.reflect.Proxy.newProxyInstance(
        UrlSource::class.java.classLoader,
        arrayOf(DataSource::class.java),
        { _, method, _ -> throw UnsupportedOperationException(method.name) },
    ) as DataSource {
    override fun getConnection(): java.sql.Connection = DriverManager.getConnection(url)
}
