package guide.channels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.PermitTimeoutException;
import baton.Priority;
import baton.channels.ChannelClosedException;
import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.interop.AsyncChannel;
import baton.interop.AsyncLatch;
import baton.interop.Reservation;
import baton.interop.Select;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** The Java code of docs/channels-and-select.md. */
class ChannelsJavaTest {
    private final List<String> log = new CopyOnWriteArrayList<>();

    private void log(String line) {
        log.add(line);
    }

    @Test
    void crawl_threePages_indexesThemInOrder() throws Exception {
        Crawler.crawl(List.of("a", "b", "c"), url -> "page " + url, this::log, ForkJoinPool.commonPool());
        assertEquals(List.of("page a", "page b", "page c"), log);
    }

    @Test
    void crawl_indexThrows_endsTheSender() {
        List<String> urls = Collections.nCopies(100, "a");
        assertThrows(
                ChannelClosedException.class,
                () -> Crawler.crawl(
                        urls,
                        url -> url,
                        page -> {
                            throw new IllegalStateException("index");
                        },
                        ForkJoinPool.commonPool()));
    }

    @Test
    void forEach_closedChannel_completes() {
        AsyncChannel<String> lines = AsyncChannel.create(64);
        CompletableFuture<Void> printed = lines.forEach(line -> log(line));
        lines.send("one").thenCompose(sent -> lines.send("two")).thenRun(lines::close);
        printed.join();
        assertEquals(List.of("one", "two"), log);
    }

    @Test
    void reserve_usedPlace_holdsTheElement() throws Exception {
        AsyncChannel<String> jobs = AsyncChannel.create(1);
        Queue<String> source = new ArrayDeque<>(List.of("job"));
        try (Reservation<String> place = jobs.blocking().reserve()) {
            place.send(source.poll());
        }
        assertEquals("job", jobs.receive().join());
    }

    @Test
    void priority_urgentIsSentLater_isReceivedFirst() {
        AsyncChannel<String> jobs = AsyncChannel.create(100, ChannelOrder.PRIORITY, OnFull.SUSPEND);
        jobs.trySend("nightly report", Priority.LOW);
        jobs.trySend("refresh the token", Priority.CRITICAL);
        assertEquals("refresh the token", jobs.receive().join());
    }

    private static final class Connection {
        boolean isClosed;

        void close() {
            isClosed = true;
        }
    }

    @Test
    void onDropped_cancelledChannel_closesTheConnections() {
        AsyncChannel<Connection> idle =
                AsyncChannel.create(10, ChannelOrder.FIFO, OnFull.SUSPEND, connection -> connection.close());
        Connection connection = new Connection();
        idle.trySend(connection);
        idle.cancel();
        assertTrue(connection.isClosed);
    }

    CompletableFuture<String> next(AsyncChannel<String> jobs, AsyncLatch stop) {
        return Select.<String>first()
                .onAwait(stop, () -> "stopped")
                .onReceive(jobs, job -> "did " + job)
                .onTimeout(Duration.ofMinutes(1), () -> "idle")
                .start();
    }

    @Test
    void select_eachClause_wins() {
        AsyncChannel<String> jobs = AsyncChannel.create(1);
        AsyncLatch stop = AsyncLatch.create(1);
        CompletableFuture<String> waiting = next(jobs, stop);
        jobs.trySend("a");
        assertEquals("did a", waiting.join());
        jobs.trySend("b");
        stop.countDown();
        assertEquals("stopped", next(jobs, stop).join());
        assertEquals("b", jobs.receive().join());
    }

    @Test
    void timedCalls_timeIsOver_failAsThePageSays() {
        AsyncChannel<String> jobs = AsyncChannel.create(0);
        Duration time = Duration.ofMillis(1);
        assertInstanceOf(PermitTimeoutException.class, failureOf(jobs.send("a", time)));
        assertInstanceOf(TimeoutException.class, failureOf(jobs.receive(time)));
        assertThrows(PermitTimeoutException.class, () -> jobs.blocking().send("a", time));
        assertThrows(TimeoutException.class, () -> jobs.blocking().receive(time));
    }

    private static Throwable failureOf(CompletableFuture<?> future) {
        return assertThrows(CompletionException.class, future::join).getCause();
    }
}
