package baton.benchmarks

import baton.Priority
import baton.scheduler.JdbcScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.ScheduleRow
import java.nio.file.Files
import java.time.Instant
import java.util.concurrent.TimeUnit
import javax.sql.DataSource
import kotlinx.coroutines.runBlocking
import org.h2.jdbcx.JdbcDataSource
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.BenchmarkMode
import org.openjdk.jmh.annotations.Fork
import org.openjdk.jmh.annotations.Level
import org.openjdk.jmh.annotations.Measurement
import org.openjdk.jmh.annotations.Mode
import org.openjdk.jmh.annotations.OutputTimeUnit
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.TearDown
import org.openjdk.jmh.annotations.Warmup
import org.postgresql.ds.PGSimpleDataSource
import org.sqlite.SQLiteConfig
import org.sqlite.SQLiteDataSource

/**
 * All work of a database for 300 ticks of a second, with 10,000 entries that are due every two minutes. `fixedRate` is
 * the store with entries of `Trigger.every`, whose runs write nothing: a load, and every five seconds a batch of one
 * row, which is more than the sign of life of its owner. `fixedDelay` writes the due times of all runs behind. The
 * others ask the table at every tick. PostgreSQL is the server that BATON_POSTGRES_URL names.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 3)
@Measurement(iterations = 5)
open class ScheduleStoreBenchmark {
    @State(Scope.Benchmark)
    open class Database {
        @Param("sqlite", "h2", "postgres") lateinit var database: String
        private lateinit var source: DataSource
        lateinit var polled: PolledTable
        lateinit var store: JdbcScheduleStore<String>
        lateinit var big: JdbcScheduleStore<String>

        /** It goes on over the iterations. */
        var now = 0L

        @Setup(Level.Trial)
        fun open() = runBlocking {
            source = newSource()
            polled = PolledTable(source, ENTRIES, PERIOD.toLong())
            store = filled("ten_thousand", ENTRIES)
            big = filled("hundred_thousand", BIG)
        }

        private fun newSource(): DataSource {
            val directory = Files.createTempDirectory("baton")
            return when (database) {
                "sqlite" -> {
                    val config = SQLiteConfig()
                    config.setJournalMode(SQLiteConfig.JournalMode.WAL)
                    config.setSynchronous(SQLiteConfig.SynchronousMode.NORMAL)
                    SQLiteDataSource(config).also { it.url = "jdbc:sqlite:${directory.resolve("sqlite.db")}" }
                }
                "h2" -> JdbcDataSource().also { it.setURL("jdbc:h2:${directory.resolve("h2")};DB_CLOSE_DELAY=-1") }
                else -> PGSimpleDataSource().also { it.setURL(System.getenv("BATON_POSTGRES_URL")) }
            }
        }

        private suspend fun filled(table: String, entries: Int): JdbcScheduleStore<String> {
            val store = JdbcScheduleStore(source, KeyCodec.STRING, table)
            store.createTables()
            store.apply(List(entries) { row(it, 0) })
            return store
        }

        @TearDown(Level.Trial)
        fun close() = runBlocking {
            polled.close()
            store.close()
            big.close()
        }
    }

    @Benchmark fun pollAndRow(db: Database): Int = (0L until TICKS).sumOf { db.polled.tick(db.now++, false) }

    @Benchmark fun pollAndBatch(db: Database): Int = (0L until TICKS).sumOf { db.polled.tick(db.now++, true) }

    @Benchmark
    fun fixedRate(db: Database): Int = runBlocking {
        val rows = db.store.load(0).size
        repeat(TICKS / FLUSH_TICKS) { db.store.apply(listOf(row(0, 0))) }
        rows
    }

    @Benchmark
    fun fixedDelay(db: Database): Int = runBlocking {
        var rows = db.store.load(0).size
        for (tick in 0 until TICKS step FLUSH_TICKS) {
            val due = (0 until ENTRIES).filter { (it % PERIOD - tick % PERIOD).mod(PERIOD) < FLUSH_TICKS }
            db.store.apply(due.map { row(it, tick.toLong() + PERIOD) })
            rows += due.size
        }
        rows
    }

    @Benchmark fun load100k(db: Database): Int = runBlocking { db.big.load(0).size }

    private companion object {
        const val TICKS = 300
        const val FLUSH_TICKS = 5
        const val PERIOD = 120
        const val ENTRIES = 10_000
        const val BIG = 100_000

        fun row(entry: Int, due: Long) =
            ScheduleRow(
                "check $entry",
                "delay PT2M",
                Priority.NORMAL,
                Instant.ofEpochSecond(due),
                pausedBy = null,
                deleted = false,
                revision = 0,
            )
    }
}
