/** Locks that several JVMs share through a store. */
module baton.distributed {
    requires kotlin.stdlib;
    requires transitive baton.primitives;
    requires transitive java.sql;
    requires static transitive org.jspecify;

    exports baton.distributed;
}
