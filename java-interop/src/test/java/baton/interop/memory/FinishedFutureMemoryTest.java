package baton.interop.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncChannel;
import baton.interop.AsyncMutex;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSemaphore;
import baton.interop.CancellableFuture;
import baton.interop.Permit;
import baton.interop.Select;
import baton.memory.CollectorKt;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Code may keep a future for its value. The future does not keep the objects alive that its action captured. */
class FinishedFutureMemoryTest {
    private static final Executor REFUSING = task -> {
        throw new IllegalStateException("no");
    };

    private static final class KeepingException extends RuntimeException {
        private static final long serialVersionUID = 1;

        @SuppressWarnings("UnusedVariable") // keeps it reachable
        private final transient Object kept;

        KeepingException(Object kept) {
            this.kept = kept;
        }
    }

    private enum Finished {
        WITH_PERMIT(captured -> AsyncSemaphore.create(1).withPermit(action(captured))),
        WITH_PERMIT_AFTER_WAITING(captured -> {
            AsyncSemaphore semaphore = AsyncSemaphore.create(1);
            Permit held = semaphore.acquire().join();
            CompletableFuture<Object> future = semaphore.withPermit(action(captured));
            held.close();
            return future;
        }),
        WITH_PERMIT_WITHDRAWN(captured -> {
            AsyncSemaphore semaphore = AsyncSemaphore.create(1);
            assertTrue(semaphore.tryAcquire().isPresent());
            CompletableFuture<Object> future = semaphore.withPermit(action(captured));
            future.cancel(true);
            return future;
        }),
        WITH_PERMIT_REFUSED(captured -> {
            AsyncSemaphore semaphore = AsyncSemaphore.create(1);
            semaphore.close();
            return semaphore.withPermit(action(captured));
        }),
        WITH_LOCK_ON_AN_EXECUTOR(captured -> AsyncMutex.create().withLock(action(captured), Runnable::run)),
        WITH_LOCK_REFUSED_BY_ITS_EXECUTOR(captured -> AsyncMutex.create().withLock(action(captured), REFUSING)),
        WITH_PERMIT_WHOSE_STAGE_CAPTURED_IT(captured -> AsyncSemaphore.create(1)
                .withPermit(() -> new CompletableFuture<Object>() {
                    private final Object kept = captured;

                    {
                        complete(kept.hashCode());
                    }
                })),
        FOR_EACH(captured -> {
            AsyncChannel<String> channel = AsyncChannel.create(1);
            CompletableFuture<?> future = channel.forEach(element -> assertTrue(captured != channel));
            channel.send("x").join();
            channel.close();
            return future;
        }),
        FOR_EACH_CANCELLED(captured -> {
            AsyncChannel<String> channel = AsyncChannel.create(1);
            CompletableFuture<?> future = channel.forEach(element -> assertTrue(captured != channel));
            future.cancel(true);
            return future;
        }),
        SELECT(captured -> {
            AsyncChannel<String> channel = AsyncChannel.create(1);
            channel.send("x").join();
            return select(captured, channel).start();
        }),
        SELECT_AFTER_WAITING(captured -> {
            AsyncChannel<String> channel = AsyncChannel.create(1);
            CompletableFuture<Object> future = select(captured, channel).start();
            channel.send("x").join();
            return future;
        }),
        SELECT_WITHDRAWN(captured -> {
            CompletableFuture<Object> future =
                    select(captured, AsyncChannel.create(1)).start();
            future.cancel(true);
            return future;
        }),
        RETRY(captured -> AsyncRetry.builder().build().call(action(captured))),
        RETRY_AFTER_A_FAILURE(captured -> {
            List<Integer> attempts = new ArrayList<>();
            return retry(captured, Duration.ZERO).call(() -> {
                attempts.add(captured.hashCode());
                if (attempts.size() == 1) throw new KeepingException(captured);
                return CompletableFuture.completedFuture(1);
            });
        }),
        RETRY_AFTER_A_RESULT(captured -> retry(captured, Duration.ZERO)
                .call(action(captured), value -> captured.hashCode() == (int) value, value -> {
                    assertEquals(captured.hashCode(), value);
                    return Optional.empty();
                })),
        RETRY_CANCELLED_WHILE_IT_WAITS(captured -> {
            CompletableFuture<?> future = retry(captured, Duration.ofDays(1)).call(() -> {
                throw new KeepingException(captured);
            });
            future.cancel(true);
            return future;
        }),
        RETRY_COMPLETED_WHILE_ITS_STAGE_RUNS(captured -> {
            CompletableFuture<Integer> stage = new CompletableFuture<>();
            CompletableFuture<Integer> future = retry(captured, Duration.ZERO)
                    .call(() -> stage, value -> captured.hashCode() == value, value -> Optional.empty());
            future.complete(1);
            return future;
        }),
        SUPPLY(captured -> CancellableFuture.supply(Runnable::run, token -> captured.hashCode()));

        private final Function<Object, CompletableFuture<?>> make;

        Finished(Function<Object, CompletableFuture<?>> make) {
            this.make = make;
        }

        private static Supplier<CompletionStage<Object>> action(Object captured) {
            return () -> CompletableFuture.completedFuture(captured.hashCode());
        }

        private static AsyncRetry retry(Object captured, Duration delay) {
            return AsyncRetry.builder()
                    .constant(delay)
                    .maxDelay(delay)
                    .retryIf(e -> captured.hashCode() == System.identityHashCode(captured))
                    .build();
        }

        private static Select<Object> select(Object captured, AsyncChannel<String> channel) {
            return Select.first()
                    .onReceive(channel, element -> captured.hashCode())
                    .onReceive(AsyncChannel.create(1), element -> captured.hashCode())
                    .onTimeout(Duration.ofDays(1), captured::hashCode);
        }

        /** In a stack frame of its own, so that no local variable keeps an object alive. */
        private CompletableFuture<?> make(List<WeakReference<Object>> captures) {
            Object captured = new Object();
            captures.add(new WeakReference<>(captured));
            return make.apply(captured);
        }
    }

    @ParameterizedTest
    @EnumSource
    void future_finished_doesNotKeepWhatItsActionCaptured(Finished way) {
        List<WeakReference<Object>> captures = new ArrayList<>();
        CompletableFuture<?> future = way.make(captures);
        assertTrue(future.isDone());
        CollectorKt.assertCollected(captures);
        assertTrue(future.isDone());
    }
}
