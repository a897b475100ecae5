package baton.sync;

// In Java: an enum of Kotlin loads nine more classes, for its list of entries and its companion, before a Java program
// has its first permit.

/** The order in which a {@link Semaphore} admits its waiters. */
public enum WaitOrder {
    /**
     * Strictly first come, first served: no request overtakes, not even a small one a large one that does not fit yet.
     */
    FIFO,

    /**
     * By the {@code baton.Priority} in the waiter's coroutine context (none means NORMAL), first come first served within
     * a level. No level starves: a level that was bypassed 64 (HIGH), 128 (NORMAL), 256 (LOW) or 512 (IDLE) times is
     * served next; up to three grants earlier when several levels reach their bound at the same time.
     */
    PRIORITY,

    /**
     * First come, first served among the waiters, but a newcomer may take free permits before a waiter has woken up to
     * take them. Much faster under contention, since a running coroutine goes on without a dispatch. Bounded: at most
     * {@link #MAX_OVERTAKES} newcomers overtake the same waiter at the head, which is then served before any other caller.
     *
     * <p>Until the waiter at the head has run, the waiters behind it wait, also if there are permits for them. So a waiter
     * must not block the thread that the head needs.
     */
    UNFAIR;

    /** How many newcomers may overtake the same head of the queue under {@link #UNFAIR}. */
    public static final int MAX_OVERTAKES = 64;
}
