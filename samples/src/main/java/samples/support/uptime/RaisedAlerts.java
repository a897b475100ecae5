package samples.support.uptime;

import baton.monitoring.Alert;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The alerts that are raised, in words. Not thread-safe: its owner guards it. */
final class RaisedAlerts {
    private final Map<String, String> raised = new LinkedHashMap<>();

    /** Adds or removes an alert. Returns a line about it. */
    String add(Alert alert) {
        String key = alert.getKind() + " " + alert.getSource();
        if (!alert.getRaised()) return "alert over: " + raised.remove(key);
        raised.put(key, text(alert));
        return "alert: " + text(alert);
    }

    List<String> lines() {
        return List.copyOf(raised.values());
    }

    private static String text(Alert alert) {
        return switch (alert.getKind()) {
            case UTILISATION ->
                String.format(Locale.ROOT, "%s at %.0f %% of the limit", alert.getSource(), alert.getValue() * 100);
            case LONGEST_WAIT -> alert.getSource() + ", longest wait " + seconds(alert);
            case LONGEST_RUN -> alert.getSource() + ", longest run " + seconds(alert);
            case BREAKER_OPEN -> "the breaker of " + alert.getSource() + " is open";
            case HEAP, RETRY_STORM, DEADLOCK -> alert.getKind() + " of " + alert.getSource();
        };
    }

    private static String seconds(Alert alert) {
        return Duration.ofMillis((long) (alert.getValue() * 1000)).toSeconds() + " s";
    }
}
