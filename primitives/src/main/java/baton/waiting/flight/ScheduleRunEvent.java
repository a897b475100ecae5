package baton.waiting.flight;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

@Name("baton.ScheduleRun")
@Label("Schedule Run")
@Category("Baton")
@Description("A run of an entry of a schedule")
@StackTrace(false) // of the dispatcher
final class ScheduleRunEvent extends Event {
    @Label("Schedule")
    String schedule;

    @Label("Key")
    String key;

    @Label("Outcome")
    @Description("SUCCEEDED, FAILED, TIMED_OUT, CANCELLED, or ENDED if the schedule has ended meanwhile")
    String outcome;
}
