package baton.interop.locks;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncMutex;
import baton.interop.Permit;
import baton.sync.Mutex;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class AsyncMutexTest {
    private final AsyncMutex mutex = AsyncMutex.create("account");

    /** Its {@code toString}, which messages call, throws. */
    private static final class Mute {
        @Override
        public String toString() {
            throw new UnsupportedOperationException("no name");
        }
    }

    @Test
    void toString_saysNameAndState() {
        assertEquals("AsyncMutex 'account' (free)", mutex.toString());
        Permit permit = mutex.lock("me").join();
        CompletableFuture<Permit> waits = mutex.lock();
        assertEquals("AsyncMutex 'account' (locked by me, waiting = 1)", mutex.toString());
        permit.close();
        assertEquals("AsyncMutex 'account' (locked, waiting = 0)", mutex.toString());
        waits.join().close();
        assertEquals("AsyncMutex (free)", AsyncMutex.create().toString());
    }

    @Test
    void of_aKotlinMutex_sharesItsState() {
        Mutex kotlin = new Mutex(true, null);
        AsyncMutex face = AsyncMutex.of(kotlin);
        assertSame(kotlin, face.kotlin());
        assertTrue(face.isLocked());
        CompletableFuture<Permit> waits = face.lock();
        kotlin.unlock(null);
        waits.join().close();
        assertFalse(kotlin.isLocked());
    }

    @Test
    void lock_isHandedOverInOrder() {
        Permit permit = mutex.lock().join();
        CompletableFuture<Permit> first = mutex.lock();
        CompletableFuture<Permit> second = mutex.lock("second");
        assertEquals(2, mutex.waiting());
        assertTrue(mutex.tryLock().isEmpty());
        permit.close();
        assertTrue(first.isDone());
        assertFalse(second.isDone());
        assertTrue(mutex.isLocked());
        assertEquals(Optional.empty(), mutex.holder());
        first.join().close();
        assertEquals(Optional.of("second"), mutex.holder());
        second.join().close();
        assertFalse(mutex.isLocked());
        assertEquals(0, mutex.waiting());
    }

    @Test
    void lock_againByTheSameOwner_failsInTheFutureAndChangesNothing() {
        Object me = new Object();
        Permit permit = mutex.lock(me).join();
        assertInstanceOf(IllegalStateException.class, failure(mutex.lock(me)));
        assertInstanceOf(IllegalStateException.class, failure(mutex.withLock(me, AsyncMutexTest::notRun)));
        assertThrows(IllegalStateException.class, () -> mutex.tryLock(me));
        assertEquals(Optional.of(me), mutex.holder());
        assertEquals(0, mutex.waiting());
        permit.close();
        assertFalse(mutex.isLocked());
    }

    @Test
    void owners_areComparedByIdentity() {
        @SuppressWarnings("StringOperationCanBeSimplified")
        String twin = new String("me");
        Permit permit = mutex.lock("me").join();
        CompletableFuture<Permit> other = mutex.lock(twin);
        assertEquals(1, mutex.waiting());
        permit.close();
        assertSame(twin, mutex.holder().orElseThrow());
        other.join().close();
    }

    @Test
    void tryLock_returnsAtOnce() {
        Permit permit = mutex.tryLock().orElseThrow();
        assertTrue(mutex.tryLock().isEmpty());
        assertTrue(mutex.tryLock("me").isEmpty());
        permit.close();
        mutex.tryLock("me").orElseThrow().close();
        assertFalse(mutex.isLocked());
    }

    static Stream<Arguments> nulls() {
        AsyncMutex m = AsyncMutex.create();
        return Stream.of(
                call("mutex", () -> AsyncMutex.of(null)),
                call("owner", () -> m.lock((Object) null)),
                call("owner", () -> m.lock(null, Duration.ZERO)),
                call("timeout", () -> m.lock("me", (Duration) null)),
                call("executor", () -> m.lock("me", (Executor) null)),
                call("timeout", () -> m.lock((Duration) null)),
                call("owner", () -> m.tryLock(null)),
                call("action", () -> m.withLock(null)),
                call("owner", () -> m.withLock((Object) null, AsyncMutexTest::notRun)),
                call("action", () -> m.withLock("me", (Supplier<CompletionStage<String>>) null)),
                call("action", () -> m.withLock((Supplier<CompletionStage<String>>) null, (Executor) Runnable::run)),
                call("executor", () -> m.withLock(AsyncMutexTest::notRun, (Executor) null)),
                call("owner", () -> m.withLock(null, AsyncMutexTest::notRun, Runnable::run)),
                call("action", () -> m.withLock("me", null, Runnable::run)),
                call("executor", () -> m.withLock("me", AsyncMutexTest::notRun, null)));
    }

    private static Arguments call(String argument, Executable call) {
        return Arguments.of(argument, call);
    }

    @ParameterizedTest
    @MethodSource("nulls")
    void null_asAnArgument_isRefusedByName(String argument, Executable call) {
        assertEquals(argument, assertThrows(NullPointerException.class, call).getMessage());
    }

    @Test
    void withLock_withoutAction_doesNotLock() {
        assertThrows(NullPointerException.class, () -> mutex.withLock(null));
        assertThrows(NullPointerException.class, () -> mutex.withLock("me", (Supplier<CompletionStage<String>>) null));
        assertThrows(
                NullPointerException.class,
                () -> mutex.withLock((Supplier<CompletionStage<String>>) null, (Executor) Runnable::run));
        assertFalse(mutex.isLocked());
    }

    static Stream<Duration> negative() {
        return Stream.of(Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE));
    }

    @ParameterizedTest
    @MethodSource("negative")
    void lock_withNegativeTimeout_isNowOrNotAtAll(Duration timeout) {
        Permit permit = mutex.lock(timeout).join();
        assertInstanceOf(TimeoutException.class, failure(mutex.lock("me", timeout)));
        permit.close();
        mutex.lock("me", timeout).join().close();
        assertFalse(mutex.isLocked());
    }

    @Test
    void lock_withTimeoutZero_isNowOrNotAtAll() {
        Permit permit = mutex.lock(Duration.ZERO).join();
        var e = assertInstanceOf(TimeoutException.class, failure(mutex.lock(Duration.ZERO)));
        assertEquals("not locked within PT0S: Mutex 'account' (locked, waiting = 0)", e.getMessage());
        permit.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 999_999, 20_000_000})
    void lock_afterTheTimeout_failsAndHoldsNothing(long nanos) {
        Permit permit = mutex.lock().join();
        CompletableFuture<Permit> late = mutex.lock(Duration.ofNanos(nanos));
        assertInstanceOf(TimeoutException.class, awaitFailure(late));
        assertEquals(0, mutex.waiting());
        permit.close();
        assertFalse(mutex.isLocked());
    }

    @Test
    void lock_withTheLongestTimeout_waitsAndIsGranted() {
        Permit permit = mutex.lock().join();
        CompletableFuture<Permit> patient = mutex.lock(Duration.ofSeconds(Long.MAX_VALUE));
        assertEquals(1, mutex.waiting());
        permit.close();
        patient.join().close();
        assertFalse(mutex.isLocked());
    }

    @Test
    void lock_whoseTimeIsOverUnderAHolderWithoutName_failsAllTheSame() {
        Permit permit = mutex.lock(new Mute()).join();
        assertInstanceOf(TimeoutException.class, awaitFailure(mutex.lock(Duration.ofNanos(1))));
        assertInstanceOf(TimeoutException.class, awaitFailure(mutex.lock(Duration.ZERO)));
        permit.close();
        assertFalse(mutex.isLocked());
    }

    @Test
    void lock_againByAnOwnerWithoutName_failsInTheFuture() {
        Mute me = new Mute();
        Permit permit = mutex.lock(me).join();
        assertInstanceOf(IllegalStateException.class, awaitFailure(mutex.lock(me)));
        permit.close();
        assertFalse(mutex.isLocked());
    }

    @Test
    void withLock_withOwner_isHeldByItUntilTheStageHasEnded() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> result = mutex.withLock("me", () -> stage);
        assertEquals(Optional.of("me"), mutex.holder());
        stage.complete("done");
        assertEquals("done", await(result));
        assertFalse(mutex.isLocked());
    }

    private static CompletionStage<String> notRun() {
        throw new AssertionError("ran");
    }
}
