package baton

/**
 * How urgent a coroutine's work is: five levels, most urgent first.
 *
 * A level is an element of the coroutine context and travels to child coroutines like any other:
 * `launch(Priority.HIGH) { … }`. None in the context counts as [NORMAL], unless the place of use says otherwise.
 * What a level means is stated where it is used, for example at `WaitOrder.PRIORITY`. A level that can be changed while
 * the work goes on is a [PriorityController].
 */
public enum class Priority : PriorityElement {
    /** Somebody cannot go on without it: token refresh, answer to a direct user action. */
    CRITICAL,

    /** Wanted now: data of the view that is open. */
    HIGH,

    /** The level of work that says nothing. */
    NORMAL,

    /** Wanted soon: prefetching, analytics. */
    LOW,

    /** Only when nothing else is to be done: cache warming. */
    IDLE,
    ;

    /** This level itself. */
    override val level: Priority get() = this
}
