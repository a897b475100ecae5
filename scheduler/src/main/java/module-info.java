/** Priorities for coroutines and tasks, over any dispatcher. */
@SuppressWarnings("module") // the Java module is built after this one
module baton.scheduler {
    requires kotlin.stdlib;
    requires transitive baton.primitives;

    exports baton.scheduler;
    exports baton.scheduler.bridge to
            baton.interop;
}
