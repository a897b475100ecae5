/** The primitives for Java: waiting operations return a CompletableFuture. */
module baton.interop {
    requires transitive baton.primitives;
    requires transitive baton.scheduler;
    requires static baton.distributed; // not transitive, as the next
    requires static baton.shared; // not transitive: every modular program would need it to compile
    requires static transitive java.sql;
    requires static transitive org.jspecify;

    exports baton.interop;
}
