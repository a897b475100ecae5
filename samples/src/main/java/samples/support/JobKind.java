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

    /** The level at which it is scheduled. */
    public Priority priority() {
        return priority;
    }

    /** The name in a table. */
    public String label() {
        return label;
    }

    /** A colour that colour-blind readers can distinguish from the others. */
    String colour() {
        return colour;
    }

    /** The path of its request. */
    String path() {
        return "/api/" + label.replace(' ', '-');
    }

    /** Whether a user waits for it; the jobs of the other kinds are the backlog. */
    boolean isUrgent() {
        return priority.compareTo(Priority.NORMAL) < 0;
    }
}
