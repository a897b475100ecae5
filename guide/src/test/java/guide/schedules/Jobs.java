package guide.schedules;

import baton.Priority;
import baton.interop.AsyncSchedule;
import baton.interop.ScheduleStores;
import baton.interop.Triggers;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import org.sqlite.SQLiteDataSource;

class Jobs {
    public static void main(String[] args) {
        SQLiteDataSource dataSource = new SQLiteDataSource();
        dataSource.setUrl("jdbc:sqlite:" + args[0] + "?journal_mode=WAL");
        ScheduleStores.createTables(dataSource, "jobs").join(); // no effect if they are there
        AsyncSchedule<String> schedule = AsyncSchedule.<String>blockingBuilder(
                        due -> System.out.println("runs " + due.getKey()))
                .store(ScheduleStores.jdbc(dataSource, "jobs"))
                .name("jobs")
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(schedule::close)); // Ctrl-C, SIGTERM: frees the tables at once

        ZoneId berlin = ZoneId.of("Europe/Berlin");
        schedule.put("report", Triggers.daily(LocalTime.of(6, 30), berlin), Priority.NORMAL, null, true);
        schedule.put("clean up", Triggers.every(Duration.ofMinutes(5)));
        schedule.flush().join(); // the entries are in the database
        System.out.println("due " + schedule.nextDue("report").orElseThrow());
        schedule.ended().join(); // without this, the JVM ends with main: the threads of a schedule are daemons
    }
}
