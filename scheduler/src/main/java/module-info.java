/** Priorities for coroutines and tasks, over any dispatcher. */
module baton.scheduler {
    requires kotlin.stdlib;
    requires transitive baton.primitives;

    exports baton.scheduler;
}
