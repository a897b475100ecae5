package baton.interop.stress;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncChannel;
import baton.interop.Futures;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("any-jdk")
class ChannelSubscriptionStressTest {
    /** An element arrives while the consumption is cancelled: it is consumed, or stays in the channel. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Timeout(300)
    void cancel_racingWithAnElement_leavesItToOneOfThem(boolean onExecutor) {
        AsyncChannel<Integer> channel = AsyncChannel.create(1);
        AtomicInteger consumed = new AtomicInteger();
        for (int round = 0; round < 5_000; round++) {
            consumed.set(0);
            CompletableFuture<Void> consumption = onExecutor
                    ? channel.forEach(x -> consumed.incrementAndGet(), ForkJoinPool.commonPool())
                    : channel.forEach(x -> consumed.incrementAndGet());
            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> assertTrue(channel.trySend(1)));
            for (int i = 0; i < round % 100; i++) Thread.onSpinWait();
            consumption.cancel(false);
            await(sent);
            int inside = channel.tryReceive().orElse(0);
            // The executor may still be running the last action, returning the element, or withdrawing its receiver. It
            // withdraws the receiver itself if it has seen the cancellation first.
            while (onExecutor && consumed.get() + inside == 0)
                inside = channel.tryReceive().orElse(0);
            while (onExecutor && channel.waiting() > 0) Thread.onSpinWait();
            assertEquals(1, consumed.get() + inside);
            assertEquals(0, channel.waiting());
        }
    }

    /** Several publishers of one channel, each with slow and with bursting demand. */
    @Test
    @Timeout(300)
    void elements_ofManySendersToManyConsumers_areNeitherLostNorDoubled() {
        AsyncChannel<Integer> channel = AsyncChannel.create(2);
        List<List<Integer>> got = new ArrayList<>();
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            List<Integer> mine = new ArrayList<>();
            got.add(mine);
            ends.add(channel.forEach(mine::add));
            AsyncChannel<Integer> behind = AsyncChannel.create(i);
            channel.publisher(ForkJoinPool.commonPool()).subscribe(behind.subscriber());
            List<Integer> others = new ArrayList<>();
            got.add(others);
            ends.add(behind.forEachAsync(x -> CompletableFuture.runAsync(() -> others.add(x))));
        }
        CompletableFuture<?>[] senders = IntStream.range(0, 3)
                .mapToObj(sender -> CompletableFuture.runAsync(() -> {
                    for (int i = sender; i < 9_000; i += 3) channel.send(i).join();
                }))
                .toArray(CompletableFuture[]::new);
        await(CompletableFuture.allOf(senders));
        channel.close();
        ends.forEach(Futures::await);
        assertEquals(
                IntStream.range(0, 9_000).boxed().toList(),
                got.stream().flatMap(List::stream).sorted().toList());
    }
}
