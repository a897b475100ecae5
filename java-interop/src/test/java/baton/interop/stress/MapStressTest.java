package baton.interop.stress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.Futures;
import baton.interop.Recorder;
import baton.interop.Tasks;
import baton.parallel.Outcome;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A hundred thousand elements, whose stages other threads complete. Some fail, and some calls are cancelled. */
@Tag("any-jdk")
class MapStressTest {
    private static final int ELEMENTS = 100_000;
    private static final int OF_A_CALL = 500;

    private final AtomicLong started = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();

    /** The elements of one call. */
    private final class Call {
        final int limit = random(1, 9);
        final int failsOneIn = random(0, 3) == 0 ? random(20, 2_000) : 0;
        final boolean isCancelled = random(0, 10) == 0;
        private final AtomicInteger inFlight = new AtomicInteger();
        private final AtomicInteger pulling = new AtomicInteger();
        final AtomicInteger broken = new AtomicInteger();

        final Iterable<Integer> elements = () -> IntStream.range(0, OF_A_CALL)
                .boxed()
                .peek(element -> {
                    if (pulling.incrementAndGet() != 1) broken.incrementAndGet();
                    pulling.decrementAndGet();
                })
                .iterator();

        CompletableFuture<Integer> map(int element) {
            started.incrementAndGet();
            if (inFlight.incrementAndGet() > limit) broken.incrementAndGet();
            CompletableFuture<Integer> stage = new CompletableFuture<>();
            boolean fails = failsOneIn > 0 && random(0, failsOneIn) == 0;
            Runnable end = () -> {
                inFlight.decrementAndGet();
                ended.incrementAndGet();
                if (fails) stage.completeExceptionally(new IOException());
                else stage.complete(element);
            };
            if (random(0, 4) == 0) end.run();
            else ForkJoinPool.commonPool().execute(end);
            return stage;
        }

        void run(int kind) throws Exception {
            CompletableFuture<?> result = switch (kind) {
                case 0 -> mayCancel(Tasks.mapLimit(elements, limit, this::map)).thenAccept(this::assertAll);
                case 1 ->
                    mayCancel(Tasks.mapSettled(elements, limit, this::map)).thenAccept(this::assertSettled);
                case 2 -> consumed(Tasks.processInChunks(elements, random(1, 20), limit, this::map));
                default ->
                    consumed(Tasks.mapLimit(
                            Tasks.processInChunks(elements, 1, 2, CompletableFuture::completedFuture),
                            limit,
                            chunk -> map(chunk.get(0))));
            };
            try {
                result.get(120, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                boolean isExpected = failsOneIn > 0 && e.getCause() instanceof IOException;
                assertTrue(isExpected || isCancelled && e.getCause() instanceof CancellationException, e::toString);
            } catch (CancellationException e) {
                assertTrue(isCancelled);
            }
            assertEquals(0, broken.get());
        }

        private <T> CompletableFuture<T> mayCancel(CompletableFuture<T> all) {
            int spins = isCancelled ? random(0, 10_000) : 0;
            for (int i = 0; i < spins; i++) Thread.onSpinWait();
            if (isCancelled) all.cancel(true);
            return all;
        }

        private void assertAll(List<Integer> all) {
            assertEquals(IntStream.range(0, OF_A_CALL).boxed().toList(), all);
        }

        private void assertSettled(List<Outcome<Integer>> all) {
            assertEquals(OF_A_CALL, all.size());
            for (int i = 0; i < OF_A_CALL; i++) {
                if (all.get(i) instanceof Outcome.Success<Integer> success) assertEquals(i, success.getValue());
            }
        }

        /** Requests from other threads, and cancels somewhere if this is to be cancelled. */
        private <T> CompletableFuture<Void> consumed(Flow.Publisher<T> publisher) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            publisher.subscribe(new Recorder<T>() {
                private final List<Object> received = new ArrayList<>();
                private int left;

                @Override
                public void onSubscribe(Flow.Subscription subscription) {
                    super.onSubscribe(subscription);
                    demand();
                }

                private void demand() {
                    left = random(1, 4);
                    if (random(0, 2) == 0) subscription.request(left);
                    else ForkJoinPool.commonPool().execute(() -> subscription.request(left));
                }

                @Override
                public void onNext(T result) {
                    super.onNext(result);
                    if (result instanceof List<?> chunk) received.addAll(chunk);
                    else received.add(result);
                    if (isCancelled && random(0, 50) == 0) {
                        subscription.cancel();
                        end.cancel(false);
                    } else if (--left == 0) {
                        demand();
                    }
                }

                @Override
                public void onError(Throwable why) {
                    super.onError(why);
                    end.completeExceptionally(why);
                }

                @Override
                public void onComplete() {
                    super.onComplete();
                    if (received.equals(IntStream.range(0, OF_A_CALL).boxed().toList())) end.complete(null);
                    else end.completeExceptionally(new AssertionError(received.toString()));
                }
            });
            return end;
        }
    }

    private static int random(int from, int to) {
        return ThreadLocalRandom.current().nextInt(from, to);
    }

    @Test
    @Timeout(300)
    void maps_withFailuresAndCancels_keepTheLimitAndEndWhatTheyStart() throws Exception {
        for (int call = 0; started.get() < ELEMENTS; call++) new Call().run(call % 4);
        // Calls that were cancelled leave their elements to the pool.
        while (started.get() != ended.get()) Thread.onSpinWait();
    }

    /** A cancel at any moment: no element is started after it, and each stage that was has ended. */
    @Test
    @Timeout(300)
    void mapLimit_cancelledAtAnyMoment_cancelsWhatItHasStarted() {
        for (int round = 0; round < 500; round++) {
            List<CompletableFuture<Integer>> stages = new ArrayList<>();
            CompletableFuture<List<Integer>> all =
                    Tasks.mapLimit(() -> IntStream.range(0, 1_000).iterator(), 3, element -> {
                        CompletableFuture<Integer> stage = CompletableFuture.supplyAsync(() -> element);
                        synchronized (stages) {
                            stages.add(stage);
                        }
                        return stage;
                    });
            for (int i = 0; i < round % 500; i++) Thread.onSpinWait();
            boolean wasCancelled = all.cancel(true);
            int count;
            synchronized (stages) {
                count = stages.size();
            }
            assertTrue(wasCancelled || count == 1_000);
            CompletableFuture<?>[] begun;
            synchronized (stages) {
                begun = stages.toArray(CompletableFuture<?>[]::new);
            }
            for (CompletableFuture<?> stage : begun) Futures.await(stage.handle((value, e) -> true));
            // The puller may be in the function when the call is cancelled.
            synchronized (stages) {
                assertTrue(stages.size() <= count + 1, () -> stages.size() + " stages, " + count + " at the cancel");
            }
        }
    }

    /** A cancel that had cancelled a stage, and not yet closed the map, gave the place of the stage to the next element. */
    @Test
    @Timeout(300)
    void mapSettled_cancelledAtAnyMoment_keepsTheLimit() {
        for (int round = 0; round < 3_000; round++) {
            int limit = 1 + round % 3;
            AtomicInteger inFlight = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            CompletableFuture<List<Outcome<Integer>>> all =
                    Tasks.mapSettled(() -> IntStream.range(0, 10_000).iterator(), limit, element -> {
                        most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
                        CompletableFuture<Integer> stage = new CompletableFuture<>();
                        ForkJoinPool.commonPool().execute(() -> {
                            inFlight.decrementAndGet();
                            stage.complete(element);
                        });
                        return stage;
                    });
            for (int i = 0; i < round; i++) Thread.onSpinWait();
            all.cancel(true);
            while (inFlight.get() > 0) Thread.onSpinWait();
            assertTrue(most.get() <= limit, () -> most + " in flight, limit " + limit);
        }
    }
}
