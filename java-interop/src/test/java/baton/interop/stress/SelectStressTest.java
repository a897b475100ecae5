package baton.interop.stress;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncChannel;
import baton.interop.AsyncSemaphore;
import baton.interop.Permit;
import baton.interop.Select;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("any-jdk")
class SelectStressTest {
    /** Both channels become ready at once. The select receives one element; the other stays in its channel. */
    @Test
    @Timeout(300)
    void twoChannels_readyAtOnce_loseAndDoubleNothing() {
        AsyncChannel<Integer> one = AsyncChannel.create(0);
        AsyncChannel<Integer> two = AsyncChannel.create(0);
        AtomicInteger runs = new AtomicInteger();
        Select<Integer> select = Select.<Integer>first()
                .onReceive(one, x -> {
                    runs.incrementAndGet();
                    return x;
                })
                .onReceive(two, x -> {
                    runs.incrementAndGet();
                    return x;
                });
        for (int round = 1; round <= 2_000; round++) {
            int element = round;
            CompletableFuture<Integer> winner = select.start();
            var sending = CompletableFuture.supplyAsync(() -> two.send(-element));
            CompletableFuture<Void> sent = one.send(element);
            int won = await(winner);
            CompletableFuture<Void> alsoSent = await(sending);
            int stayed = await((won > 0 ? two : one).receive());
            assertEquals(0, won + stayed);
            assertEquals(round, runs.get());
            assertNull(await(sent));
            assertNull(await(alsoSent));
            assertEquals(0, one.waiting() + two.waiting() + one.size() + two.size());
        }
    }

    /** A cancel races with the grant: the future has the permit, or the permit is free. */
    @Test
    @Timeout(300)
    void cancel_racingWithTheGrant_leavesThePermitToOneOfThem() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        AsyncChannel<Permit> idle = AsyncChannel.create(0);
        Select<Permit> select = Select.<Permit>first().onReceive(idle, x -> x).onAcquire(semaphore, permit -> permit);
        for (int round = 1; round <= 2_000; round++) {
            Permit holder = semaphore.acquire().join();
            CompletableFuture<Permit> winner = select.start();
            CompletableFuture<Void> released = CompletableFuture.runAsync(holder::close);
            for (int i = 0; i < round % 100; i++) Thread.onSpinWait();
            if (!winner.cancel(false)) winner.join().close();
            await(released);
            await(semaphore.awaitIdle());
            assertEquals(0, idle.waiting() + semaphore.waiting());
            assertEquals(1, semaphore.availablePermits());
        }
    }

    /** Threads select, send and receive at a few channels, and cancel some of the requests. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    @Timeout(300)
    void elements_underSelectsThatCancelAtRandom_areNeitherLostNorDoubled(int capacity) throws Exception {
        Run run = new Run(capacity);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            SplittableRandom random = new SplittableRandom(System.nanoTime() + i);
            Thread thread = new Thread(() -> run.go(random, end), "stress-" + i);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) thread.join();
        run.check();
    }

    private static final class Run {
        private final List<AsyncChannel<Long>> channels;
        private final AtomicLong next = new AtomicLong();

        /** The functions add to it: a function runs if and only if its clause has won. */
        private final Queue<Long> sent = new ConcurrentLinkedQueue<>();

        private final Queue<Long> received = new ConcurrentLinkedQueue<>();
        private final AtomicReference<Throwable> failure = new AtomicReference<>();

        Run(int capacity) {
            channels = Stream.<AsyncChannel<Long>>generate(() -> AsyncChannel.create(capacity))
                    .limit(3)
                    .toList();
        }

        void go(SplittableRandom random, long end) {
            List<CompletableFuture<?>> open = new ArrayList<>();
            try {
                while (System.nanoTime() < end && failure.get() == null) {
                    open.add(call(random));
                    if (open.size() > 4)
                        open.remove(random.nextInt(open.size())).cancel(false);
                }
            } catch (Throwable e) {
                failure.set(e);
            }
            open.forEach(future -> future.cancel(false));
        }

        private CompletableFuture<?> call(SplittableRandom random) {
            AsyncChannel<Long> channel = channels.get(random.nextInt(channels.size()));
            if (random.nextInt(4) == 0) {
                // Cancelling a derived stage withdraws nothing.
                return channel.receive().thenAccept(received::add).thenRun(() -> {});
            }
            if (random.nextInt(4) == 0) {
                long element = next.incrementAndGet();
                CompletableFuture<Void> future = channel.send(element);
                var unused = future.thenRun(() -> sent.add(element));
                return future;
            }
            Select<Object> select = Select.first();
            int clauses = random.nextInt(1, 5);
            for (int i = 0; i < clauses; i++) {
                AsyncChannel<Long> at = channels.get(random.nextInt(channels.size()));
                if (random.nextBoolean()) {
                    select.onReceive(at, received::add);
                } else {
                    long element = next.incrementAndGet();
                    select.onSend(at, element, () -> sent.add(element));
                }
            }
            if (random.nextInt(8) == 0) select.onTimeout(Duration.ofMillis(random.nextInt(3)), () -> "late");
            return random.nextInt(4) == 0 ? select.start(ForkJoinPool.commonPool()) : select.start();
        }

        /** Receives the remaining elements, then counts. An element that another thread is returning arrives later. */
        void check() {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
            boolean quiet = false;
            while (System.nanoTime() < deadline && !quiet) {
                boolean pool = ForkJoinPool.commonPool().awaitQuiescence(120, TimeUnit.SECONDS);
                for (AsyncChannel<Long> channel : channels) while (channel.tryReceive(received::add)) continue;
                quiet = pool && waiting() == 0 && sorted(sent).equals(sorted(received));
                Thread.yield();
            }
            assertNull(failure.get());
            assertTrue(sent.size() > 100, sent.size() + " were sent");
            assertEquals(List.of(), without(sent, received), "lost");
            assertEquals(List.of(), without(received, sent), "invented");
            assertEquals(sent.size(), received.size(), "doubled");
            assertEquals(0, waiting());
        }

        private static List<Long> without(Queue<Long> these, Queue<Long> those) {
            HashSet<Long> left = new HashSet<>(these);
            left.removeAll(new HashSet<>(those));
            return new ArrayList<>(left);
        }

        private static List<Long> sorted(Queue<Long> elements) {
            return elements.stream().sorted().toList();
        }

        /** Sends to plain receivers that were not cancelled and still wait; they count as all others. */
        private int waiting() {
            int waiting = 0;
            for (AsyncChannel<Long> channel : channels) {
                while (channel.waiting() > 0) {
                    long element = next.incrementAndGet();
                    if (!channel.trySend(element)) break;
                    sent.add(element);
                }
                waiting += channel.waiting();
            }
            return waiting;
        }
    }
}
