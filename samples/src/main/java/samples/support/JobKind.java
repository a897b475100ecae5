package samples.support;

import baton.Priority;

/** The jobs of an application that talks to its server, the most urgent first. */
public enum JobKind {
    TOKEN_REFRESH(Priority.CRITICAL, "token refresh", "#D55E00"),
    VIEW_DATA(Priority.HIGH, "view data", "#E69F00"),
    PREFETCH(Priority.NORMAL, "prefetch", "#0072B2"),
    ANALYTICS(Priority.LOW, "analytics", "#56B4E9"),
    CACHE_WARMING(Priority.IDLE, "cache warming", "#A9A9A9");

    private final Priority priority;
    private final String label;
    private final String colour;

    JobKind(Priority priority, String label, String colour) {
        this.priority = priority;
        this.label = label;
        this.colour = colour;
    }

    /** How urgent it is. */
    public Priority priority() {
        return priority;
    }

    /** What a table calls it. */
    public String label() {
        return label;
    }

    /** Told from the others by the colour-blind, too. */
    String colour() {
        return colour;
    }

    /** What the server is asked for. */
    String path() {
        return "/api/" + label.replace(' ', '-');
    }

    /** Whether somebody waits for it; all others make the backlog. */
    boolean isUrgent() {
        return priority.compareTo(Priority.NORMAL) < 0;
    }
}
