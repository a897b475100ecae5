package baton.waiting.flight;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

@Name("baton.ScheduleAttempt")
@Label("Schedule Attempt")
@Category("Baton")
@Description("An attempt of a run of a schedule: a run that is tried again has several")
@StackTrace(false) // of the dispatcher
final class ScheduleAttemptEvent extends Event {
    @Label("Schedule")
    String schedule;

    @Label("Key")
    String key;

    @Label("Attempt")
    @Description("Its number within the run, from 1")
    int attempt;

    @Label("Outcome")
    @Description("SUCCEEDED, FAILED, TIMED_OUT, CANCELLED, or ENDED if the schedule has ended meanwhile")
    String outcome;
}
