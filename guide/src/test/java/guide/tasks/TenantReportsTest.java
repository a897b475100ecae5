package guide.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncSchedule;
import baton.interop.AsyncScheduleEdits;
import baton.interop.ScheduleStores;
import baton.interop.Triggers;
import baton.scheduler.RunOutcome;
import baton.scheduler.ScheduleEntry;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A report per tenant on Mondays and Thursdays, in a database; extra ones are ordered with a row of the program. */
@Timeout(120)
class TenantReportsTest {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    private static final class TenantReports implements AutoCloseable {
        final AsyncSchedule<String> schedule;
        private final DataSource dataSource;
        private final AsyncScheduleEdits<String> edits;

        TenantReports(DataSource dataSource, BlockingQueue<String> begun) throws SQLException {
            this.dataSource = dataSource;
            execute("CREATE TABLE IF NOT EXISTS orders (tenant VARCHAR)");
            ScheduleStores.createTables(dataSource, "reports").join();
            edits = AsyncScheduleEdits.of(dataSource, "reports");
            schedule = AsyncSchedule.<String>blockingBuilder(due -> {
                        begun.add(due.getKey());
                        if (due.getKey().equals("hangs")) new CountDownLatch(1).await();
                    })
                    .store(ScheduleStores.jdbc(dataSource, "reports"))
                    .name("reports")
                    .start();
        }

        void add(String tenant) {
            Set<DayOfWeek> days = Set.of(DayOfWeek.MONDAY, DayOfWeek.THURSDAY);
            schedule.put(tenant, Triggers.weekly(days, LocalTime.of(7, 30), BERLIN), Priority.NORMAL, null, true);
        }

        void orderExtra(String tenant, Instant at, boolean isKept) throws SQLException {
            try (Connection connection = dataSource.getConnection()) {
                connection.setAutoCommit(false);
                try (Statement insert = connection.createStatement()) {
                    insert.execute("INSERT INTO orders VALUES ('" + tenant + "')");
                }
                edits.edit(connection, it -> it.put("extra " + tenant, Triggers.at(at)));
                if (isKept) connection.commit();
                else connection.rollback();
            }
            schedule.resync().join();
        }

        ScheduleEntry<String> entry(String key) {
            return schedule.entries(1_000).stream()
                    .filter(entry -> entry.getKey().equals(key))
                    .findFirst()
                    .orElseThrow();
        }

        private void execute(String sql) throws SQLException {
            try (Connection connection = dataSource.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        }

        int orders() throws SQLException {
            try (Connection connection = dataSource.getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet result = statement.executeQuery("SELECT COUNT(*) FROM orders")) {
                result.next();
                return result.getInt(1);
            }
        }

        @Override
        public void close() {
            schedule.close();
            edits.close().join();
        }
    }

    @TempDir
    Path folder;

    private final BlockingQueue<String> begun = new LinkedBlockingQueue<>();
    private TenantReports reports;

    @BeforeEach
    void open() throws SQLException {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setURL("jdbc:h2:" + folder.resolve("reports"));
        reports = new TenantReports(dataSource, begun);
    }

    @AfterEach
    void close() {
        reports.close();
    }

    @Test
    void report_isDueOnMondayOrThursdayMorning() {
        reports.add("acme");
        ZonedDateTime due = reports.entry("acme").getNextDue().atZone(BERLIN);
        assertEquals(LocalTime.of(7, 30), due.toLocalTime());
        assertTrue(Set.of(DayOfWeek.MONDAY, DayOfWeek.THURSDAY).contains(due.getDayOfWeek()));
    }

    @Test
    void extraReport_isOrderedWithTheRowOrNotAtAll() throws Exception {
        Instant inAnHour = Instant.now().plus(Duration.ofHours(1));
        reports.orderExtra("acme", inAnHour, false);
        assertEquals(0, reports.orders());
        assertEquals(0, reports.schedule.size());
        reports.orderExtra("acme", inAnHour, true);
        assertEquals(1, reports.orders());
        assertNotNull(reports.entry("extra acme").getNextDue());
    }

    @Test
    void list_showsTheOutcomeOfTheLastRun() throws Exception {
        reports.add("acme");
        reports.schedule.triggerNow("acme");
        assertEquals("acme", begun.take());
        while (reports.entry("acme").getLastRun() == null) Thread.onSpinWait();
        assertEquals(RunOutcome.SUCCEEDED, reports.entry("acme").getLastOutcome());
        List<ScheduleEntry<String>> entries = reports.schedule.entries(1_000);
        assertEquals(1, entries.size());
    }

    @Test
    void runThatHangs_isStopped() throws Exception {
        reports.add("hangs");
        reports.schedule.triggerNow("hangs");
        assertEquals("hangs", begun.take());
        assertNotNull(reports.entry("hangs").getRunningSince());
        assertEquals(1, reports.schedule.cancelRun("hangs"));
        while (reports.entry("hangs").getLastRun() == null) Thread.onSpinWait();
        assertEquals(RunOutcome.CANCELLED, reports.entry("hangs").getLastOutcome());
        assertNotNull(reports.entry("hangs").getNextDue());
    }
}
