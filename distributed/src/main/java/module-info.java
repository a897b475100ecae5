/** Locks that several JVMs share through a store. */
@SuppressWarnings("module") // the Java module is built after this one
module baton.distributed {
    requires kotlin.stdlib;
    requires transitive baton.primitives;
    requires transitive java.sql;
    requires static transitive org.jspecify;

    exports baton.distributed;
}
