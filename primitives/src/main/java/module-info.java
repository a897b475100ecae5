/** Synchronization for coroutines. Packages that are not exported are internal. */
@SuppressWarnings("module") // our other modules are not built yet when this one is
module baton.primitives {
    requires java.management;
    requires static jdk.jfr;
    requires jdk.management;
    requires kotlin.stdlib;
    requires transitive kotlinx.coroutines.core;

    exports baton;
    exports baton.batch;
    exports baton.channels;
    exports baton.monitoring;
    exports baton.parallel;
    exports baton.resilience;
    exports baton.sync;
    exports baton.tasks;
    exports baton.bridge to
            baton.distributed,
            baton.interop,
            baton.scheduler,
            baton.shared,
            baton.test;
    exports baton.files to
            baton.scheduler,
            baton.shared;
    exports baton.monitoring.core to
            baton.distributed,
            baton.micrometer,
            baton.scheduler,
            baton.test;
    exports baton.waiting to
            baton.distributed,
            baton.interop,
            baton.scheduler,
            baton.shared,
            baton.test;
    exports baton.waiting.clock to
            baton.distributed,
            baton.interop,
            baton.scheduler,
            baton.test;
    exports baton.waiting.coroutine to
            baton.interop,
            baton.scheduler,
            baton.test;
    exports baton.waiting.flight to
            baton.distributed,
            baton.interop,
            baton.scheduler,
            baton.shared;
    exports baton.waiting.holders to
            baton.scheduler;
    exports baton.waiting.keys to
            baton.interop;
    exports baton.waiting.threads to
            baton.distributed,
            baton.interop,
            baton.scheduler,
            baton.shared;
}
