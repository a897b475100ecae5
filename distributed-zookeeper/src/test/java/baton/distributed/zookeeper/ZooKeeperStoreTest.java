package baton.distributed.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.distributed.CoordinationStore;
import baton.distributed.StoreUnavailableException;
import baton.distributed.StoredDocument;
import baton.test.StoreContract;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ZooKeeperStoreTest extends StoreContract {
    private static TestingServer server;
    private static CuratorFramework cli;

    @BeforeAll
    static void startServer() throws Exception {
        server = new TestingServer();
        cli = CuratorFrameworkFactory.newClient(server.getConnectString(), new RetryNTimes(100, 100));
        cli.start();
    }

    @AfterAll
    static void endServer() throws Exception {
        cli.close();
        server.close();
    }

    @AfterEach
    void empty() throws Exception {
        if (cli.checkExists().forPath("/baton") != null)
            cli.delete().deletingChildrenIfNeeded().forPath("/baton");
    }

    @Override
    protected CoordinationStore open() {
        return new ZooKeeperStore(server.getConnectString());
    }

    private static <T> T await(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(120, TimeUnit.SECONDS);
    }

    private static Throwable failure(CompletionStage<?> stage) {
        return assertThrows(ExecutionException.class, () -> await(stage)).getCause();
    }

    @Test
    void document_isReadableByTheTools_andARingLeavesNothing() throws Exception {
        try (ZooKeeperStore store = new ZooKeeperStore(server.getConnectString())) {
            await(store.compareAndSet("shop:mutex:a", 0, new StoredDocument(7, "{}"), List.of("x", "y", "x")));
        }
        assertEquals(List.of("7"), cli.getChildren().forPath("/baton/documents/shop:mutex:a"));
        assertEquals("{}", new String(cli.getData().forPath("/baton/documents/shop:mutex:a/7")));
        assertEquals(List.of(), cli.getChildren().forPath("/baton/bells"));
    }

    @Test
    void nodesThatAreLost_areMadeAgain() throws Exception {
        try (ZooKeeperStore store = new ZooKeeperStore(server.getConnectString())) {
            await(store.compareAndSet("k", 0, new StoredDocument(7, "{}"), List.of()));
            cli.delete().deletingChildrenIfNeeded().forPath("/baton");
            assertEquals(Optional.empty(), await(store.read("k")));
            assertEquals(
                    Optional.empty(),
                    await(store.compareAndSet("k", 7, new StoredDocument(8, "{}"), List.of("a")))
                            .current());
            assertTrue(await(store.compareAndSet("k", 0, new StoredDocument(9, "{}"), List.of("a")))
                    .isStored());
            cli.delete().forPath("/baton/bells");
            assertTrue(await(store.compareAndSet("k", 9, new StoredDocument(10, "{}"), List.of("a")))
                    .isStored());
        }
    }

    @Test
    void times_differ() throws Exception {
        try (ZooKeeperStore store = new ZooKeeperStore(server.getConnectString())) {
            long first = await(store.now());
            assertTrue(first != await(store.now()));
        }
    }

    @Test
    void nodeOfAnotherProgram_isNamed() throws Exception {
        try (ZooKeeperStore store = new ZooKeeperStore(server.getConnectString())) {
            cli.create().creatingParentsIfNeeded().forPath("/baton/documents/k/many", new byte[0]);
            String message = failure(store.read("k")).getMessage();
            assertTrue(message.contains("/baton/documents/k") && message.contains(store.toString()), message);
        }
    }

    @Test
    void clientOfTheApplication_staysOpen() throws Exception {
        ZooKeeperStore store = new ZooKeeperStore(cli);
        assertFalse(await(store.read("k")).isPresent());
        store.close();
        assertInstanceOf(StoreUnavailableException.class, failure(store.read("k")));
        assertEquals(null, cli.checkExists().forPath("/baton"));
    }

    @Test
    void serverThatCannotBeReached_isUnavailable() {
        try (ZooKeeperStore store = new ZooKeeperStore("localhost:1")) {
            Throwable failure = failure(store.compareAndSet("k", 0, new StoredDocument(1, "{}"), List.of()));
            assertInstanceOf(StoreUnavailableException.class, failure);
            assertTrue(failure.getMessage().contains("ZooKeeperStore (localhost:1)"), failure.getMessage());
        }
    }
}
