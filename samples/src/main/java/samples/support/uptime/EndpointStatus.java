package samples.support.uptime;

import baton.Priority;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * An endpoint as the page shows it.
 *
 * @param isPaused whether it is checked only on demand.
 * @param since when it got its state, in milliseconds since 1970.
 * @param millis the time of the latest response, null before the first one.
 * @param checks the number of checks that have ended.
 * @param reason why it is down; empty if it is not.
 */
record EndpointStatus(
        String name,
        Priority level,
        CheckHistory.State state,
        @JsonProperty("paused") boolean isPaused,
        long since,
        @JsonProperty("ms") Long millis,
        int checks,
        String reason) {

    static EndpointStatus of(Watch watch) {
        CheckHistory.State state = watch.history.state();
        return new EndpointStatus(
                watch.endpoint.name(),
                watch.endpoint.priority(),
                state,
                watch.isPaused,
                watch.changed,
                watch.responseMillis < 0 ? null : watch.responseMillis,
                watch.checks,
                state == CheckHistory.State.DOWN ? watch.reason : "");
    }
}
