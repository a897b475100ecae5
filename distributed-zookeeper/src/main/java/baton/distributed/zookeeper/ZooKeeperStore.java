package baton.distributed.zookeeper;

import baton.distributed.CasAnswer;
import baton.distributed.CoordinationStore;
import baton.distributed.StoredDocument;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.KeeperException.Code;

/**
 * A store in ZooKeeper 3.6 or newer, by the client Curator.
 *
 * <pre>{@code
 * CoordinationStore store = new ZooKeeperStore("zk1:2181,zk2:2181,zk3:2181");
 * }</pre>
 *
 * <p><i>Documents.</i> Each is a node with one child, whose name is the version and whose data is the text:
 * {@code ls /baton/documents/shop:mutex:account} in zkCli shows the version. A write is one transaction, which takes the
 * child of the expected version away and makes that of the next. No node is ephemeral: members expire by the rules of the
 * cluster, not with a session.
 *
 * <p><i>Bell.</i> A ring makes a node below {@code /baton/bells} and takes it away, in the same transaction; watches hear
 * that.
 *
 * <p><i>Timeouts.</i> A call fails after three seconds. Cancelling the result of a call does not recall its command.
 *
 * <p><i>Durability.</i> What a quorum has acknowledged is kept, also when a server is lost. This is the store for locks
 * that must not be granted twice after a failover.
 */
public final class ZooKeeperStore implements CoordinationStore {
    private static final String DOCUMENTS = "/baton/documents/";
    private static final String BELLS = "/baton/bells/";
    private static final int TIMEOUT_MILLIS = 3_000;
    private static final int SESSION_MILLIS = 6_000;
    private static final long MILLI_MICROS = 1_000;

    private final CuratorFramework client;
    private final boolean isOwn;
    private final ZooKeeperCalls calls;
    private final ZooKeeperBells bells;
    private final String label;

    /** A store with a session of its own. Does no I/O. */
    public ZooKeeperStore(String connectString) {
        this(
                CuratorFrameworkFactory.builder()
                        .connectString(connectString)
                        .sessionTimeoutMs(SESSION_MILLIS)
                        .connectionTimeoutMs(TIMEOUT_MILLIS)
                        .retryPolicy(new RetryNTimes(0, 0))
                        .build(),
                true);
    }

    /**
     * A store that uses {@code client}, which the application starts and closes: for authentication, TLS and namespaces.
     * Give it one that nothing else uses, since heartbeats wait for the commands before them.
     */
    public ZooKeeperStore(CuratorFramework client) {
        this(client, false);
    }

    private ZooKeeperStore(CuratorFramework client, boolean isOwn) {
        this.client = client;
        this.isOwn = isOwn;
        label = "ZooKeeperStore (" + client.getZookeeperClient().getCurrentConnectionString() + ")";
        calls = new ZooKeeperCalls(client, isOwn, label, TIMEOUT_MILLIS);
        bells = new ZooKeeperBells(client, BELLS);
        client.getConnectionStateListenable().addListener((it, state) -> {
            calls.connectionChanged(state.isConnected());
            // A new session has no watches.
            if (state == ConnectionState.CONNECTED || state == ConnectionState.RECONNECTED) bells.watchAgain();
        });
    }

    private static String pathOf(String key) {
        return DOCUMENTS + NodeNames.encode(key);
    }

    @Override
    public CompletionStage<Optional<StoredDocument>> read(String key) {
        String path = pathOf(key);
        // The server to which this talks may lag behind the leader.
        return calls.call(
                () -> calls.send(answer -> client.sync().inBackground(answer).forPath(path))
                        .thenCompose(synced -> look(path)));
    }

    private CompletionStage<Optional<StoredDocument>> look(String path) {
        return calls.send(answer -> client.getChildren().inBackground(answer).forPath(path))
                .thenCompose(found -> {
                    if (is(found, Code.NONODE)) return CompletableFuture.completedFuture(Optional.empty());
                    ZooKeeperCalls.check(found);
                    if (found.getChildren().size() != 1) throw stranger(path, null);
                    return look(path, found.getChildren().get(0));
                });
    }

    private CompletionStage<Optional<StoredDocument>> look(String path, String version) {
        return calls.send(answer -> client.getData().inBackground(answer).forPath(path + "/" + version))
                .thenCompose(found -> {
                    if (is(found, Code.NONODE)) return look(path); // there is another version now
                    ZooKeeperCalls.check(found);
                    String text = new String(found.getData(), StandardCharsets.UTF_8);
                    try {
                        StoredDocument document = new StoredDocument(Long.parseLong(version), text);
                        return CompletableFuture.completedFuture(Optional.of(document));
                    } catch (IllegalArgumentException e) {
                        throw stranger(path, e);
                    }
                });
    }

    private IllegalStateException stranger(String path, IllegalArgumentException cause) {
        return new IllegalStateException("the node " + path + " in " + label + " is none of Baton's", cause);
    }

    private static boolean is(CuratorEvent event, Code code) {
        return event.getResultCode() == code.intValue();
    }

    @Override
    public CompletionStage<CasAnswer> compareAndSet(
            String key, long expected, StoredDocument next, Collection<String> rung) {
        if (next.version() <= expected) {
            throw new IllegalArgumentException("next.version = " + next.version() + ", must be above " + expected);
        }
        return calls.call(() -> write(key, expected, next, rung));
    }

    private CompletionStage<CasAnswer> write(String key, long expected, StoredDocument next, Collection<String> rung) {
        String path = pathOf(key);
        return calls.send(answer ->
                        client.transaction().inBackground(answer).forOperations(writing(path, expected, next, rung)))
                .thenCompose(done -> {
                    if (is(done, Code.OK)) return CompletableFuture.completedFuture(CasAnswer.stored());
                    if (!is(done, Code.NONODE) && !is(done, Code.NODEEXISTS)) ZooKeeperCalls.check(done);
                    return look(path).thenCompose(current -> {
                        long version = current.map(StoredDocument::version).orElse(0L);
                        if (version != expected) {
                            return CompletableFuture.completedFuture(CasAnswer.conflict(current));
                        }
                        return makeRoots().thenCompose(made -> write(key, expected, next, rung));
                    });
                });
    }

    private List<CuratorOp> writing(String path, long expected, StoredDocument next, Collection<String> rung)
            throws Exception {
        List<CuratorOp> steps = new ArrayList<>();
        if (expected == 0) steps.add(creation(path, ""));
        else steps.add(deletion(path + "/" + expected));
        steps.add(creation(path + "/" + next.version(), next.text()));
        String key = path.substring(DOCUMENTS.length());
        for (String topic : new LinkedHashSet<>(rung)) {
            String bell = BELLS + NodeNames.encode(topic);
            steps.add(creation(bell, ""));
            steps.add(creation(bell + "/" + key, ""));
            steps.add(deletion(bell + "/" + key));
            steps.add(deletion(bell));
        }
        return steps;
    }

    private CuratorOp creation(String path, String text) throws Exception {
        return client.transactionOp().create().forPath(path, text.getBytes(StandardCharsets.UTF_8));
    }

    private CuratorOp deletion(String path) throws Exception {
        return client.transactionOp().delete().forPath(path);
    }

    /** Of a store that is new, or has lost its nodes. */
    private CompletionStage<?> makeRoots() {
        return makeRoot(DOCUMENTS).thenCompose(made -> makeRoot(BELLS));
    }

    private CompletionStage<?> makeRoot(String root) {
        String path = root.substring(0, root.length() - 1);
        return calls.send(answer -> client.create()
                        .creatingParentsIfNeeded()
                        .inBackground(answer)
                        .forPath(path, new byte[0]))
                .thenAccept(made -> {
                    if (!is(made, Code.NODEEXISTS)) ZooKeeperCalls.check(made);
                });
    }

    @Override
    public CompletionStage<Boolean> delete(String key, long expected) {
        String path = pathOf(key);
        return calls.call(() -> calls.send(answer -> client.transaction()
                        .inBackground(answer)
                        .forOperations(deletion(path + "/" + expected), deletion(path)))
                .thenApply(done -> {
                    if (is(done, Code.NONODE)) return false;
                    ZooKeeperCalls.check(done);
                    return true;
                }));
    }

    /** By the clock of the leader, with the number of the last change in place of microseconds. */
    @Override
    public CompletionStage<Long> now() {
        return calls.call(this::touch);
    }

    private CompletionStage<Long> touch() {
        String path = DOCUMENTS.substring(0, DOCUMENTS.length() - 1);
        return calls.send(answer -> client.setData().inBackground(answer).forPath(path, new byte[0]))
                .thenCompose(done -> {
                    if (is(done, Code.NONODE)) return makeRoots().thenCompose(made -> touch());
                    ZooKeeperCalls.check(done);
                    long micros = done.getStat().getMzxid() % MILLI_MICROS;
                    return CompletableFuture.completedFuture(done.getStat().getMtime() * MILLI_MICROS + micros);
                });
    }

    @Override
    public AutoCloseable listen(String topic, Consumer<String> bell) {
        return bells.listen(topic, bell);
    }

    /** Ends the session, unless the client is the application's. All later calls fail. */
    @Override
    public void close() {
        calls.close();
        if (isOwn) client.close();
    }

    @Override
    public String toString() {
        return label;
    }
}
