package baton

/**
 * The urgency of a coroutine's work: five levels, most urgent first.
 *
 * A level is an element of the coroutine context, which child coroutines inherit: `launch(Priority.HIGH) { … }`. A
 * context without a level counts as [NORMAL], unless documented otherwise. Each user of levels documents their effect,
 * for example `WaitOrder.PRIORITY`. Use a [PriorityController] for a level that changes while the work runs.
 */
public enum class Priority : PriorityElement {
    /** Blocks a user or other work: token refresh, response to a direct user action. */
    CRITICAL,

    /** Needed now: data of the open view. */
    HIGH,

    /** The default level. */
    NORMAL,

    /** Needed soon: prefetching, analytics. */
    LOW,

    /** Runs only when there is no other work: cache warming. */
    IDLE;

    /** This level itself. */
    override val level: Priority
        get() = this
}
