package baton.waiting.flight;

import baton.InternalBatonApi;

/** An attempt of a run of a schedule that goes on, in a recording. */
@InternalBatonApi
public final class RecordedAttempt {
    private final ScheduleAttemptEvent event = new ScheduleAttemptEvent();

    RecordedAttempt() {
        event.begin();
    }

    /** The names are only read if the attempt is recorded: that of the key may call code of users. */
    public boolean endsRecorded() {
        event.end();
        return event.shouldCommit();
    }

    public void record(String schedule, String key, int attempt, String outcome) {
        event.schedule = schedule;
        event.key = key;
        event.attempt = attempt;
        event.outcome = outcome;
        event.commit();
    }
}
