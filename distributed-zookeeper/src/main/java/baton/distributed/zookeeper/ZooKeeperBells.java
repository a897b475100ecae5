package baton.distributed.zookeeper;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;

/** The listeners of this store, each with a watch of its own that stays. */
final class ZooKeeperBells {
    private final CuratorFramework client;
    private final String root;
    private final List<Bell> bells = new CopyOnWriteArrayList<>();

    ZooKeeperBells(CuratorFramework client, String root) {
        this.client = client;
        this.root = root;
    }

    /** The key is the name of the node that a ring makes. */
    private record Bell(String path, Consumer<String> listener, AtomicBoolean isClosed) implements Watcher {
        @Override
        public void process(WatchedEvent event) {
            if (isClosed.get() || event.getType() != Event.EventType.NodeCreated) return;
            String node = event.getPath();
            if (node.startsWith(path + "/")) listener.accept(NodeNames.decode(node.substring(path.length() + 1)));
        }
    }

    AutoCloseable listen(String topic, Consumer<String> listener) {
        Bell bell = new Bell(root + NodeNames.encode(topic), listener, new AtomicBoolean());
        bells.add(bell);
        if (client.getState() == CuratorFrameworkState.STARTED) watch(bell);
        return () -> {
            bell.isClosed.set(true);
            bells.remove(bell);
            if (client.getState() == CuratorFrameworkState.STARTED) forget(bell);
        };
    }

    /** Watches the node of the bell, or else does at the next connection; until then, the bell is silent. */
    private void watch(Bell bell) {
        try {
            client.watchers()
                    .add()
                    .withMode(AddWatchMode.PERSISTENT_RECURSIVE)
                    .inBackground()
                    .usingWatcher(bell)
                    .forPath(bell.path);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void forget(Bell bell) throws Exception {
        client.watchers().remove(bell).guaranteed().quietly().inBackground().forPath(bell.path);
    }

    void watchAgain() {
        bells.forEach(this::watch);
    }
}
