/** A store of Redis for clusters. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // Lettuce has no descriptor
module baton.distributed.redis {
    requires transitive baton.distributed;
    requires transitive lettuce.core;
    requires static org.jspecify;

    exports baton.distributed.redis;
}
