package consumer;

import baton.distributed.CoordinationStore;
import baton.distributed.zookeeper.ZooKeeperStore;

/** The store whose libraries cannot stand on a module path: ZooKeeper's jars share packages. */
final class ZooKeeperConsumer {
    private ZooKeeperConsumer() {}

    static CoordinationStore open() {
        return new ZooKeeperStore("localhost:2181");
    }
}
