/** The primitives for Java: waiting operations return a CompletableFuture. */
module baton.interop {
    requires transitive baton.primitives;
    requires transitive baton.scheduler;
    requires static transitive baton.shared;
    requires static transitive java.sql;
    requires static transitive org.jspecify;

    exports baton.interop;
}
