package baton.distributed.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.distributed.CasAnswer;
import baton.distributed.OutcomeUnknownException;
import baton.distributed.StoreUnavailableException;
import baton.distributed.StoredDocument;
import baton.test.stores.TcpProxy;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A store behind a network that fails. */
class RedisProxyTest {
    private static final StoredDocument FIRST = new StoredDocument(1, "{}");
    private static final StoredDocument SECOND = new StoredDocument(2, "{}");

    private static RedisProcess server;
    private TcpProxy proxy;
    private RedisStore direct;
    private RedisStore store;

    @BeforeAll
    static void startServer() throws IOException {
        server = RedisProcess.start(RedisProcess.REDIS_7_0, false);
    }

    @AfterAll
    static void endServer() throws IOException {
        if (server != null) server.close();
    }

    @BeforeEach
    void open() throws IOException {
        server.ask("FLUSHALL");
        proxy = new TcpProxy(server.port());
        direct = new RedisStore(server.uri());
        store = impatient();
        // The limits below are short: the classes of the client are loaded here.
        await(direct.compareAndSet("k", 0, FIRST, List.of()));
    }

    @AfterEach
    void close() throws IOException {
        store.close();
        direct.close();
        proxy.close();
    }

    private RedisStore impatient() throws IOException {
        return new RedisStore("redis://localhost:" + proxy.port() + "?timeout=500ms");
    }

    private static <T> T await(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(120, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static Throwable failure(CompletionStage<?> stage) {
        return assertThrows(
                        ExecutionException.class,
                        () -> stage.toCompletableFuture().get(120, TimeUnit.SECONDS))
                .getCause();
    }

    private void connect() throws IOException {
        for (int i = 0; i < 100; i++) {
            try {
                store.read("k").toCompletableFuture().join();
                return;
            } catch (CompletionException e) {
                // On a busy machine, the limit may be too short for this.
            }
        }
        throw new IOException("no connection");
    }

    @Test
    void answerThatIsLostAfterTheWrite_isUnknown() throws Exception {
        connect();
        proxy.dropAnswersAfter(0);
        assertInstanceOf(OutcomeUnknownException.class, failure(store.compareAndSet("k", 1, SECOND, List.of())));
        proxy.pass();
        assertEquals(Optional.of(SECOND), await(direct.read("k")));
        connect();
        assertEquals(CasAnswer.conflict(Optional.of(SECOND)), await(store.compareAndSet("k", 1, SECOND, List.of())));
    }

    @Test
    void answerThatIsCutInTwo_isUnknown() throws Exception {
        connect();
        proxy.dropAnswersAfter(3);
        assertInstanceOf(OutcomeUnknownException.class, failure(store.compareAndSet("k", 1, SECOND, List.of())));
        assertEquals(Optional.of(SECOND), await(direct.read("k")));
    }

    @Test
    void commandThatIsUnderWay_isUnknown_andNeverSentAgain() throws Exception {
        connect();
        proxy.stall();
        Throwable failure = failure(store.compareAndSet("k", 1, SECOND, List.of()));
        assertInstanceOf(OutcomeUnknownException.class, failure);
        proxy.cut();
        proxy.pass();
        connect();
        // At most the one that was under way, perhaps late: a command that was sent again would find the first version.
        await(direct.compareAndSet("k", 1, SECOND, List.of()));
        assertTrue(await(direct.delete("k", 2)));
        assertTrue(await(direct.compareAndSet("k", 0, FIRST, List.of())).isStored());
        connect();
        assertEquals(Optional.of(FIRST), await(direct.read("k")));
    }

    @Test
    void serverThatCannotBeReached_isUnavailable() throws Exception {
        connect();
        proxy.cut();
        Throwable first = failure(store.compareAndSet("k", 1, SECOND, List.of()));
        // The end of the connection may be seen by this very command.
        assertTrue(first instanceof StoreUnavailableException || first instanceof OutcomeUnknownException);
        assertInstanceOf(StoreUnavailableException.class, failure(store.compareAndSet("k", 1, SECOND, List.of())));
        assertEquals(Optional.of(FIRST), await(direct.read("k")));
    }

    @Test
    void connectionThatIsStalledWhileItIsOpened_isUnavailable() throws Exception {
        proxy.stall();
        assertInstanceOf(StoreUnavailableException.class, failure(store.compareAndSet("k", 1, SECOND, List.of())));
        proxy.pass();
        connect();
        assertEquals(Optional.of(FIRST), await(direct.read("k")));
    }

    @Test
    void answersThatEnd_areNoticed() throws Exception {
        connect();
        proxy.endAnswers();
        connect();
        assertTrue(proxy.connections() > 1);
        assertFalse(await(store.delete("k", 2)));
    }

    @Test
    void bellThatIsSilent_isReplacedByAHeartbeat() throws Exception {
        connect();
        LinkedBlockingQueue<String> heard = new LinkedBlockingQueue<>();
        store.listen("a", heard::add);
        ringUntil(heard, false);
        proxy.stall();
        proxy.cut();
        proxy.pass();
        heard.clear();
        ringUntil(heard, true);
    }

    private void ringUntil(LinkedBlockingQueue<String> heard, boolean isBeating) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
        for (String key = null; key == null; key = heard.poll(100, TimeUnit.MILLISECONDS)) {
            assertTrue(System.nanoTime() < end, "no ring was heard");
            if (isBeating) store.read("shop:member:m");
            long version = await(direct.read("k")).orElseThrow().version();
            await(direct.compareAndSet("k", version, new StoredDocument(version + 1, "{}"), List.of("a")));
        }
    }
}
