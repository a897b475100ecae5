package samples.support.uptime;

import baton.Priority;

/**
 * An endpoint as the page shows it.
 *
 * @param isPaused whether it is checked only on demand.
 * @param since when it got its state, in milliseconds since 1970.
 * @param millis the time of the latest response, negative before the first one.
 * @param checks the number of checks that have ended.
 * @param reason why it is down; empty if it is not.
 */
record EndpointStatus(
        String name,
        Priority level,
        CheckHistory.State state,
        boolean isPaused,
        long since,
        long millis,
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
                watch.responseMillis,
                watch.checks,
                state == CheckHistory.State.DOWN ? watch.reason : "");
    }

    String json() {
        return new Json()
                .text("name", name)
                .text("level", level.name())
                .text("state", state.name())
                .raw("paused", String.valueOf(isPaused))
                .number("since", since)
                .raw("ms", millis < 0 ? "null" : String.valueOf(millis))
                .number("checks", checks)
                .text("reason", reason)
                .toString();
    }
}
