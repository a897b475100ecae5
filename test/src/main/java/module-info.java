/** Tests of coroutines: many orders in virtual time, and assertions on primitives. */
@SuppressWarnings("requires-automatic") // Kotest has no descriptors
module baton.test {
    requires kotlin.stdlib;
    requires transitive baton.primitives;
    requires transitive baton.scheduler;
    requires static baton.distributed;
    requires static kotlinx.coroutines.test;
    requires static org.junit.jupiter.api;
    requires static kotest.framework.engine.jvm;

    exports baton.test;
    exports baton.test.interleaving to
            baton.primitives; // which looks for its hook there
}
