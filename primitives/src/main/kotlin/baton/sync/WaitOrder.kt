package baton.sync

/** In which order a [Semaphore] lets its waiters in. */
public enum class WaitOrder {
    /** Strictly first come, first served: nobody overtakes, not even a small request one that is too big for now. */
    FIFO,

    /**
     * By the `baton.Priority` in the waiter's coroutine context (none means NORMAL), first come first served inside a
     * level. No level starves: one that has been passed over 64 (HIGH), 128 (NORMAL), 256 (LOW) or 512 (IDLE) times is
     * served next; up to three places earlier when several come to their bound at the same time.
     */
    PRIORITY,

    /**
     * First come, first served among those who wait, but a newcomer may take what is free before a waiter has woken up
     * to take it. Much faster under contention, since whoever runs goes on running. Bounded: at most
     * [MAX_OVERTAKES] newcomers overtake the same waiter at the head, which then is served before anybody else.
     */
    UNFAIR,

    ;

    /** The bounds. */
    public companion object {
        /** How many newcomers may overtake the same head of the queue under [UNFAIR]. */
        public const val MAX_OVERTAKES: Int = 64
    }
}
