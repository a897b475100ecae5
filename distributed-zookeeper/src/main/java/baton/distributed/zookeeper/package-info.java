/** A store of ZooKeeper for clusters. */
@NullMarked
package baton.distributed.zookeeper;

import org.jspecify.annotations.NullMarked;
