/** The primitives for Java: what waits returns a CompletableFuture. */
module baton.interop {
    requires transitive baton.primitives;
    requires transitive baton.scheduler;
    requires static transitive org.jspecify;

    exports baton.interop;
}
