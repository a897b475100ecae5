module consumer {
    requires kotlin.stdlib;
    requires baton.primitives;
    requires baton.distributed;
    requires baton.distributed.redis;
    requires baton.shared;
    requires baton.scheduler;
    requires baton.micrometer;
    requires baton.test;
    requires baton.interop;
}
