/** Locks, semaphores, barriers and data in memory that processes share. */
@SuppressWarnings("module") // the Java module is built after this one
module baton.shared {
    requires kotlin.stdlib;
    requires transitive baton.primitives;

    exports baton.shared;
    exports baton.shared.bridge to
            baton.interop;
}
