/** Synchronization for coroutines. What is not exported here is nobody's business but ours. */
@SuppressWarnings("module") // baton.interop is not built yet when this module is
module baton.primitives {
    requires kotlin.stdlib;
    requires transitive kotlinx.coroutines.core;

    exports baton;
    exports baton.channels;
    exports baton.sync;
    exports baton.tasks;
    exports baton.waiting to
            baton.interop;
}
