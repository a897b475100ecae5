/** Priorities for coroutines and tasks, over any dispatcher. */
@SuppressWarnings("module") // our Java face is not built yet when this is
module baton.scheduler {
    requires kotlin.stdlib;
    requires transitive baton.primitives;

    exports baton.scheduler;
    exports baton.scheduler.bridge to
            baton.interop;
}
