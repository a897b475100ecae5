/** Priorities for coroutines and tasks, over any dispatcher, and schedules of recurring work. */
@SuppressWarnings("module") // the Java module is built after this one
module baton.scheduler {
    requires kotlin.stdlib;
    requires transitive baton.primitives;
    requires static transitive java.sql;

    exports baton.scheduler;
    exports baton.scheduler.bridge to
            baton.interop,
            baton.test;
}
