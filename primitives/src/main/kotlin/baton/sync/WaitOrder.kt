package baton.sync

/** The order in which a [Semaphore] admits its waiters. */
public enum class WaitOrder {
    /**
     * Strictly first come, first served: no request overtakes, not even a small one a large one that does not fit yet.
     */
    FIFO,

    /**
     * By the `baton.Priority` in the waiter's coroutine context (none means NORMAL), first come first served within a
     * level. No level starves: a level that was bypassed 64 (HIGH), 128 (NORMAL), 256 (LOW) or 512 (IDLE) times is
     * served next; up to three grants earlier when several levels reach their bound at the same time.
     */
    PRIORITY,

    /**
     * First come, first served among the waiters, but a newcomer may take free permits before a waiter has woken up to
     * take them. Much faster under contention, since a running coroutine goes on without a dispatch. Bounded: at most
     * [MAX_OVERTAKES] newcomers overtake the same waiter at the head, which is then served before any other caller.
     *
     * Until the waiter at the head has run, the waiters behind it wait, also if there are permits for them. So a waiter
     * must not block the thread that the head needs.
     */
    UNFAIR;

    /** The bounds. */
    public companion object {
        /** How many newcomers may overtake the same head of the queue under [UNFAIR]. */
        public const val MAX_OVERTAKES: Int = 64
    }
}
