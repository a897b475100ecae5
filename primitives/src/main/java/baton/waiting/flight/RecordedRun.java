package baton.waiting.flight;

import baton.InternalBatonApi;

/** A run of a schedule that goes on, in a recording. */
@InternalBatonApi
public final class RecordedRun {
    private final ScheduleRunEvent event = new ScheduleRunEvent();

    RecordedRun() {
        event.begin();
    }

    /** The names are only read if the run is recorded: that of the key may call code of users. */
    public boolean endsRecorded() {
        event.end();
        return event.shouldCommit();
    }

    public void record(String schedule, String key, String outcome) {
        event.schedule = schedule;
        event.key = key;
        event.outcome = outcome;
        event.commit();
    }
}
