/** Locks that several JVMs share through a store. */
@SuppressWarnings("module") // the modules for Java and for tests are built after this one
module baton.distributed {
    requires kotlin.stdlib;
    requires transitive baton.primitives;
    requires transitive java.sql;
    requires static transitive org.jspecify;

    exports baton.distributed;
    exports baton.distributed.bridge to
            baton.interop,
            baton.test;
}
