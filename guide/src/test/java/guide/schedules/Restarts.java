package guide.schedules;

import baton.interop.AsyncSchedule;
import baton.scheduler.ScheduleOwnedException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

class Restarts {
    /** Each call of start must make a new store object. */
    static AsyncSchedule<String> startOnceFree(Supplier<AsyncSchedule<String>> start) throws InterruptedException {
        while (true) {
            AsyncSchedule<String> schedule = start.get(); // returns also if the tables have another owner
            try {
                schedule.resync().join(); // completes when the entries are loaded
                return schedule;
            } catch (CompletionException e) {
                Throwable end = e.getCause().getCause(); // that of ended()
                if (!(end instanceof ScheduleOwnedException)) throw e;
                TimeUnit.SECONDS.sleep(1);
            }
        }
    }
}
