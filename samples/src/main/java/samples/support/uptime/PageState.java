package samples.support.uptime;

import baton.interop.AsyncSchedule;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The contents of the page, as JSON. Not thread-safe: its owner guards it. */
final class PageState {
    /** Five minutes of two looks a second. */
    static final int POINTS = 600;

    private final MonitorReport report;
    private final AsyncSchedule<String> schedule;
    private final Deque<List<Long>> history = new ArrayDeque<>();

    /** The endpoints as of the previous event, by name. */
    private Map<String, EndpointStatus> endpoints = new TreeMap<>();

    PageState(MonitorReport report, AsyncSchedule<String> schedule) {
        this.report = report;
        this.schedule = schedule;
    }

    /** A look: a new point of the picture, and what has changed since the previous event. */
    String look() {
        MonitorStatus status = report.status(true);
        List<Long> point = status.point(schedule.metrics());
        history.addLast(point);
        if (history.size() > POINTS) history.removeFirst();
        Map<String, Object> changes = changes(status);
        changes.put("point", point);
        return Json.of(changes);
    }

    /** The changes since the previous event, between two looks. */
    String changes() {
        return Json.of(changes(report.status(false)));
    }

    private Map<String, Object> changes(MonitorStatus status) {
        Map<String, EndpointStatus> now = new TreeMap<>();
        List<EndpointStatus> changed = new ArrayList<>();
        for (EndpointStatus endpoint : status.endpoints()) {
            now.put(endpoint.name(), endpoint);
            if (!endpoint.equals(endpoints.remove(endpoint.name()))) changed.add(endpoint);
        }
        Map<String, Object> changes = new HashMap<>();
        changes.put("changed", changed);
        changes.put("removed", List.copyOf(endpoints.keySet()));
        changes.put("numbers", status.numbers(schedule.metrics()));
        endpoints = now;
        return changes;
    }

    /** Everything as of the previous event: the next one tells what has changed since. */
    String latest() {
        return all(report.status(false), endpoints.values());
    }

    /** Everything as of now. */
    String present() {
        MonitorStatus status = report.status(false);
        return all(status, status.endpoints());
    }

    private String all(MonitorStatus status, Collection<EndpointStatus> of) {
        return Json.of(Map.of("numbers", status.numbers(schedule.metrics()), "history", history, "endpoints", of));
    }
}
