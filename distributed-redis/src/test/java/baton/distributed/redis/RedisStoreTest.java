package baton.distributed.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.distributed.CoordinationStore;
import baton.distributed.OutcomeUnknownException;
import baton.distributed.StoreUnavailableException;
import baton.distributed.StoredDocument;
import baton.test.StoreContract;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RedisStoreTest extends StoreContract {
    static RedisProcess server;

    @BeforeAll
    static void startServer() throws IOException {
        server = RedisProcess.start(RedisProcess.REDIS_7_0, false);
    }

    @AfterAll
    static void endServer() throws Exception {
        if (server != null) server.close();
    }

    @BeforeEach
    void empty() throws IOException {
        server.ask("FLUSHALL");
    }

    @Override
    protected CoordinationStore open() {
        return new RedisStore(server.uri());
    }

    private static <T> T await(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(120, TimeUnit.SECONDS);
    }

    private static Throwable failure(CompletionStage<?> stage) {
        return assertThrows(ExecutionException.class, () -> await(stage)).getCause();
    }

    @Test
    void document_isReadableByTheTools() throws Exception {
        try (RedisStore store = new RedisStore(server.uri())) {
            await(store.compareAndSet("shop:mutex:a", 0, new StoredDocument(7, "{\"n\":1}"), List.of()));
        }
        assertEquals(List.of("v", "7", "d", "{\"n\":1}", "+OK"), server.ask("HGETALL shop:mutex:a"));
    }

    @Test
    void clientOfTheApplication_staysOpen() throws Exception {
        RedisURI uri = RedisURI.create(server.uri());
        RedisClient client = RedisClient.create(uri);
        try (var own = client.connect()) {
            RedisStore store = new RedisStore(client, uri);
            assertFalse(await(store.read("k")).isPresent());
            store.close();
            assertInstanceOf(StoreUnavailableException.class, failure(store.read("k")));
            assertEquals("PONG", own.sync().ping());
        } finally {
            client.shutdown();
        }
    }

    @Test
    void heartbeats_doNotWaitForAFloodOfCommands() throws Exception {
        try (RedisStore store = new RedisStore(server.uri())) {
            await(store.read("shop:member:m"));
            StoredDocument longest = new StoredDocument(1, "x".repeat(StoredDocument.MAX_LENGTH));
            List<CompletableFuture<?>> flood = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                flood.add(store.compareAndSet("shop:mutex:" + i, 0, longest, List.of())
                        .toCompletableFuture());
            }
            await(store.read("shop:member:m"));
            assertFalse(flood.get(flood.size() - 1).isDone(), "the flood was over before the heartbeat");
            CompletableFuture.allOf(flood.toArray(CompletableFuture[]::new)).get(120, TimeUnit.SECONDS);
        }
    }

    @Test
    void callThatIsCancelled_isExecutedAllTheSame() throws Exception {
        try (RedisStore store = new RedisStore(server.uri())) {
            await(store.read("k"));
            store.compareAndSet("k", 0, new StoredDocument(1, "{}"), List.of())
                    .toCompletableFuture()
                    .cancel(true);
            assertTrue(await(store.read("k")).isPresent());
        }
    }

    @Test
    void serverThatCannotBeReached_isUnavailable_withoutItsPassword() {
        try (RedisStore store = new RedisStore("redis://user:secret@localhost:1")) {
            Throwable failure = failure(store.compareAndSet("k", 0, new StoredDocument(1, "{}"), List.of()));
            assertInstanceOf(StoreUnavailableException.class, failure);
            assertEquals("RedisStore (localhost:1/0)", store.toString());
            assertTrue(failure.getMessage().contains(store.toString()), failure.getMessage());
            assertFalse(stackOf(failure).contains("secret"), stackOf(failure));
        }
    }

    @Test
    void uriThatIsNone_isRefused_withoutItsPassword() {
        for (String uri : List.of("http://user:secret@localhost", "redis://user:secret@", "secret")) {
            Throwable failure = assertThrows(IllegalArgumentException.class, () -> new RedisStore(uri));
            assertFalse(stackOf(failure).contains("secret"), stackOf(failure));
        }
    }

    private static String stackOf(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    @Test
    void passwordThatIsWrong_isUnavailable_withoutThePassword() throws Exception {
        server.ask("CONFIG SET requirepass right");
        try (RedisStore store = new RedisStore("redis://:secret@localhost:" + server.port())) {
            Throwable failure = failure(store.read("k"));
            assertInstanceOf(StoreUnavailableException.class, failure);
            assertFalse(stackOf(failure).contains("secret"), stackOf(failure));
        } finally {
            server.ask("AUTH right\r\nCONFIG SET requirepass \"\"");
        }
    }

    @Test
    void serverThatMayEvictAnyKey_isRefused_untilItMayNot() throws Exception {
        server.ask("CONFIG SET maxmemory-policy allkeys-lru");
        try (RedisStore store = new RedisStore(server.uri())) {
            Throwable failure = failure(store.compareAndSet("k", 0, new StoredDocument(1, "{}"), List.of()));
            assertInstanceOf(StoreUnavailableException.class, failure);
            assertTrue(failure.getMessage().contains("allkeys-lru"), failure.getMessage());
            assertTrue(failure.getMessage().contains("noeviction"), failure.getMessage());
            server.ask("CONFIG SET maxmemory-policy volatile-lru");
            assertFalse(await(store.read("k")).isPresent());
        } finally {
            server.ask("CONFIG SET maxmemory-policy noeviction");
        }
    }

    @Test
    void serverWithoutMemory_hasWrittenNothing() throws Exception {
        try (RedisStore store = new RedisStore(server.uri())) {
            await(store.read("k"));
            server.ask("CONFIG SET maxmemory 1");
            Throwable failure = failure(store.compareAndSet("k", 0, new StoredDocument(1, "{}"), List.of()));
            assertInstanceOf(StoreUnavailableException.class, failure);
            server.ask("CONFIG SET maxmemory 0");
            assertFalse(await(store.read("k")).isPresent());
        } finally {
            server.ask("CONFIG SET maxmemory 0");
        }
    }

    @Test
    void keyOfAnotherProgram_isNamed() throws Exception {
        try (RedisStore store = new RedisStore(server.uri())) {
            server.ask("HSET shop:mutex:a v many d {}");
            Throwable failure = failure(store.read("shop:mutex:a"));
            assertTrue(failure.getMessage().contains("shop:mutex:a"), failure.getMessage());
            assertFalse(await(store.read("shop:mutex:b")).isPresent());
            server.ask("SET shop:mutex:c text");
            assertInstanceOf(
                    StoreUnavailableException.class,
                    failure(store.compareAndSet("shop:mutex:c", 0, new StoredDocument(1, "{}"), List.of())));
            server.ask("HSET shop:mutex:e v 1 d " + "x".repeat(StoredDocument.MAX_LENGTH + 1));
            assertTrue(failure(store.read("shop:mutex:e")).getMessage().contains("shop:mutex:e"));
        }
    }

    @Test
    void serverThatWasKilled_isFoundAgain() throws Exception {
        try (RedisStore store = new RedisStore(server.uri())) {
            await(store.compareAndSet("k", 0, new StoredDocument(1, "{}"), List.of()));
            server.kill();
            Throwable failure = failure(store.read("k"));
            assertTrue(
                    failure instanceof StoreUnavailableException || failure instanceof OutcomeUnknownException,
                    failure::toString);
            assertInstanceOf(StoreUnavailableException.class, failure(store.read("k")));
            server.start();
            assertFalse(await(store.read("k")).isPresent());
        }
    }
}
