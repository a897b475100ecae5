package samples.support.uptime;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The endpoints that are watched, by name, and those that no longer are. Not thread-safe: its owner guards it. */
final class WatchList {
    private final Map<String, Watch> watched = new HashMap<>();
    private final List<Watch> ended = new ArrayList<>();

    /** From now on {@code endpoints} are watched, and no others. One that was changed is watched anew. */
    MonitorReport.Edit edit(List<Endpoint> endpoints) {
        Set<String> removed = new HashSet<>(watched.keySet());
        List<Endpoint> put = new ArrayList<>();
        for (Endpoint endpoint : endpoints) {
            removed.remove(endpoint.name());
            if (of(endpoint) != null) continue;
            end(watched.put(endpoint.name(), new Watch(endpoint, System.nanoTime())));
            put.add(endpoint);
        }
        for (String name : removed) end(watched.remove(name));
        return new MonitorReport.Edit(put, removed);
    }

    private void end(Watch watch) {
        if (watch == null) return;
        watch.end();
        ended.add(watch);
    }

    /** Null if {@code name} is not watched. */
    Endpoint endpoint(String name) {
        Watch watch = watched.get(name);
        return watch == null ? null : watch.endpoint;
    }

    /** Null if {@code endpoint} is not watched, or was edited. */
    Watch of(Endpoint endpoint) {
        Watch watch = watched.get(endpoint.name());
        return watch != null && watch.endpoint.equals(endpoint) ? watch : null;
    }

    /** No effect if {@code name} is not watched. */
    void pause(String name, boolean isPaused) {
        Watch watch = watched.get(name);
        if (watch != null) watch.isPaused = isPaused;
    }

    /** By name. */
    List<EndpointStatus> statuses() {
        return watched.values().stream()
                .map(EndpointStatus::of)
                .sorted(Comparator.comparing(EndpointStatus::name))
                .toList();
    }

    int count(CheckHistory.State state) {
        return (int) watched.values().stream()
                .filter(watch -> watch.history.state() == state)
                .count();
    }

    /** The cost of polling for the endpoints that are watched. */
    PollingCost polling(MonitorOptions options) {
        return PollingCost.of(watched.values().stream()
                .map(watch -> options.shortened(watch.endpoint.interval()))
                .toList());
    }

    /** Past ones, too. */
    List<Watch> all() {
        List<Watch> all = new ArrayList<>(ended);
        all.addAll(watched.values());
        return all;
    }
}
