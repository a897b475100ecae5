package samples.support.uptime;

import baton.interop.AsyncSchedule;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The contents of the page, as JSON. Not thread-safe: its owner guards it. */
final class PageState {
    /** Five minutes of two looks a second. */
    static final int POINTS = 600;

    private final MonitorReport report;
    private final AsyncSchedule<String> schedule;
    private final Deque<String> history = new ArrayDeque<>();

    /** The endpoints as of the previous event, by name. */
    private Map<String, String> endpoints = new TreeMap<>();

    PageState(MonitorReport report, AsyncSchedule<String> schedule) {
        this.report = report;
        this.schedule = schedule;
    }

    /** A look: a new point of the picture, and what has changed since the previous event. */
    String look() {
        var metrics = schedule.metrics();
        MonitorStatus status = report.status(true);
        String point = status.point(metrics);
        history.addLast(point);
        if (history.size() > POINTS) history.removeFirst();
        return changes(status)
                .raw("numbers", status.numbers(metrics))
                .raw("point", point)
                .toString();
    }

    /** The changes since the previous event, between two looks. */
    String changes() {
        MonitorStatus status = report.status(false);
        return changes(status)
                .raw("numbers", status.numbers(schedule.metrics()))
                .toString();
    }

    private Json changes(MonitorStatus status) {
        Map<String, String> now = new TreeMap<>();
        List<String> changed = new ArrayList<>();
        for (EndpointStatus endpoint : status.endpoints()) {
            String json = endpoint.json();
            now.put(endpoint.name(), json);
            if (!json.equals(endpoints.remove(endpoint.name()))) changed.add(json);
        }
        List<String> removed = endpoints.keySet().stream().map(Json::quoted).toList();
        endpoints = now;
        return new Json().raw("changed", Json.array(changed)).raw("removed", Json.array(removed));
    }

    /** Everything as of the previous event: the next one tells what has changed since. */
    String latest() {
        return all(report.status(false), endpoints.values());
    }

    /** Everything as of now. */
    String present() {
        MonitorStatus status = report.status(false);
        return all(status, status.endpoints().stream().map(EndpointStatus::json).toList());
    }

    private String all(MonitorStatus status, Collection<String> of) {
        return new Json()
                .raw("numbers", status.numbers(schedule.metrics()))
                .raw("history", Json.array(history))
                .raw("endpoints", Json.array(of))
                .toString();
    }
}
