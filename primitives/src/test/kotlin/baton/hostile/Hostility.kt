package baton.hostile

/** The way in which a [HostileDispatcher] treats a task that it is given. */
enum class Hostility {
    /** Queues the task and then throws, as a thread pool does that has a queue and cannot start a thread. */
    QUEUES_AND_THROWS,

    /** Throws and does not queue the task. */
    THROWS,

    /** Forgets the task and returns normally, as a pool does that was stopped, or has a DiscardPolicy. */
    DROPS,

    /** Runs the task on the caller's stack. */
    RUNS_IN_PLACE,

    /** Runs the task in queue order, and once more when the queue is empty. */
    RUNS_TWICE,

    /** Runs the queued tasks in random order. */
    RANDOM_ORDER,

    /** Queues the first few tasks, and rejects later ones. */
    SHUTS_DOWN;

    /** Whether the caller of `dispatch` or `execute` may see an exception. */
    val throws: Boolean
        get() = this == QUEUES_AND_THROWS || this == THROWS || this == SHUTS_DOWN
}
