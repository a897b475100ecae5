package baton.interop;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.internal.futures.Timeout;
import baton.sync.Semaphore;
import baton.sync.SemaphoreClosedException;
import baton.sync.WaitOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class AsyncSemaphoreTest {
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(3, WaitOrder.FIFO, "uplink");

    @Test
    void create_withName_saysItAndTheState() {
        assertEquals("AsyncSemaphore 'uplink' (permits = 3, available = 3, waiting = 0)", semaphore.toString());
        assertEquals(
                "AsyncSemaphore (permits = 1, available = 1, waiting = 0)",
                AsyncSemaphore.create(1).toString());
        assertEquals(WaitOrder.FIFO, AsyncSemaphore.create(1).order());
        assertEquals(
                WaitOrder.UNFAIR,
                AsyncSemaphore.create(1, WaitOrder.UNFAIR, null).order());
        assertNull(AsyncSemaphore.create(1, WaitOrder.UNFAIR, null).kotlin().getName());
    }

    @Test
    void of_aKotlinSemaphore_sharesItsState() {
        Semaphore kotlin = new Semaphore(2, 1, WaitOrder.FIFO, null);
        AsyncSemaphore face = AsyncSemaphore.of(kotlin);
        assertSame(kotlin, face.kotlin());
        assertEquals(1, face.availablePermits());
        Permit permit = face.acquire().join();
        assertEquals(0, kotlin.getAvailablePermits());
        CompletableFuture<Permit> waits = AsyncSemaphore.of(kotlin).acquire();
        assertEquals(1, face.waiting());
        kotlin.release(1);
        assertTrue(waits.isDone());
        permit.close();
        waits.join().close();
        assertEquals(2, kotlin.getAvailablePermits());
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0})
    void create_permitsBelowOne_isRefusedWithTheNumber(int permits) {
        assertRefused(permits, () -> AsyncSemaphore.create(permits));
        assertRefused(permits, () -> AsyncSemaphore.create(permits, WaitOrder.FIFO, "uplink"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, Integer.MAX_VALUE - 1, Integer.MAX_VALUE})
    void permits_atTheLimits_allCanBeTakenAndGivenBack(int permits) {
        AsyncSemaphore semaphore = AsyncSemaphore.create(permits);
        assertEquals(permits, semaphore.permits());
        Permit all = semaphore.acquire(permits).join();
        assertEquals(0, semaphore.availablePermits());
        CompletableFuture<Permit> again = semaphore.acquire(permits);
        CompletableFuture<Permit> one = semaphore.acquire();
        assertEquals(2, semaphore.waiting());
        all.close();
        assertTrue(again.isDone());
        again.join().close();
        one.join().close();
        assertEquals(permits, semaphore.availablePermits());
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 4, Integer.MAX_VALUE})
    void acquire_ofMoreThanCanEverBeGranted_throwsAtTheCallAndChangesNothing(int permits) {
        assertRefused(permits, () -> semaphore.acquire(permits));
        assertRefused(permits, () -> semaphore.acquire(permits, Runnable::run));
        assertRefused(permits, () -> semaphore.acquire(permits, Priority.HIGH));
        assertRefused(permits, () -> semaphore.acquire(permits, Duration.ofSeconds(1)));
        assertRefused(permits, () -> semaphore.acquire(permits, Duration.ZERO));
        assertRefused(permits, () -> semaphore.acquire(permits, Priority.HIGH, Duration.ZERO));
        assertRefused(permits, () -> semaphore.tryAcquire(permits));
        assertRefused(permits, () -> semaphore.withPermits(permits, () -> CompletableFuture.completedFuture(1)));
        assertRefused(
                permits,
                () -> semaphore.withPermits(permits, () -> CompletableFuture.completedFuture(1), Futures.REJECTING));
        assertEquals("AsyncSemaphore 'uplink' (permits = 3, available = 3, waiting = 0)", semaphore.toString());
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0})
    void resize_belowOne_isRefusedAndChangesNothing(int permits) {
        assertRefused(permits, () -> semaphore.resize(permits));
        assertEquals(3, semaphore.permits());
    }

    @Test
    void resize_toTheLimits_countsOn() {
        semaphore.resize(Integer.MAX_VALUE);
        assertEquals(Integer.MAX_VALUE, semaphore.availablePermits());
        Permit all = semaphore.acquire(Integer.MAX_VALUE).join();
        semaphore.resize(1);
        assertEquals(0, semaphore.availablePermits());
        CompletableFuture<Permit> one = semaphore.acquire();
        assertFalse(one.isDone());
        all.close();
        one.join().close();
        assertEquals(1, semaphore.availablePermits());
    }

    static Stream<Arguments> nulls() {
        AsyncSemaphore s = AsyncSemaphore.create(1);
        Executor here = Runnable::run;
        return Stream.of(
                call("semaphore", () -> AsyncSemaphore.of(null)),
                call("order", () -> AsyncSemaphore.create(1, null, "name")),
                call("executor", () -> s.acquire(1, (Executor) null)),
                call("priority", () -> s.acquire(1, (Priority) null)),
                call("timeout", () -> s.acquire((Duration) null)),
                call("timeout", () -> s.acquire(1, (Duration) null)),
                call("timeout", () -> s.acquire(1, Priority.HIGH, null)),
                call("priority", () -> s.acquire(1, null, Duration.ZERO)),
                call("action", () -> s.withPermit(null)),
                call("action", () -> s.withPermit(null, here)),
                call("executor", () -> s.withPermit(() -> CompletableFuture.completedFuture(1), null)),
                call("action", () -> s.withPermits(1, null)),
                call("action", () -> s.withPermits(1, null, here)),
                call("executor", () -> s.withPermits(1, () -> CompletableFuture.completedFuture(1), null)),
                call("cause", () -> s.close(null)));
    }

    private static Arguments call(String argument, Executable call) {
        return Arguments.of(argument, call);
    }

    @ParameterizedTest
    @MethodSource("nulls")
    void null_asAnArgument_isRefusedByNameAndTakesNothing(String argument, Executable call) {
        assertEquals(argument, assertThrows(NullPointerException.class, call).getMessage());
    }

    @Test
    void withPermit_withoutAction_takesNoPermit() {
        AsyncSemaphore one = AsyncSemaphore.create(1);
        assertThrows(NullPointerException.class, () -> one.withPermit(null));
        assertThrows(NullPointerException.class, () -> one.withPermit(null, Runnable::run));
        assertThrows(NullPointerException.class, () -> one.withPermits(1, null));
        assertThrows(NullPointerException.class, () -> one.withPermits(1, null, Runnable::run));
        assertEquals(1, one.availablePermits());
    }

    @Test
    void acquire_whilePermitsAreFree_isDoneAtOnce() {
        CompletableFuture<Permit> two = semaphore.acquire(2);
        assertTrue(two.isDone());
        assertEquals(1, semaphore.availablePermits());
        two.join().close();
        assertEquals(3, semaphore.availablePermits());
    }

    @Test
    void acquire_heavyHead_isNotOvertakenAndGrantsThePrefixThatFits() {
        Permit two = semaphore.acquire(2).join();
        Permit one = semaphore.acquire().join();
        CompletableFuture<Permit> heavy = semaphore.acquire(2);
        CompletableFuture<Permit> small = semaphore.acquire();
        CompletableFuture<Permit> last = semaphore.acquire();
        one.close();
        assertFalse(heavy.isDone() || small.isDone());
        assertEquals(1, semaphore.availablePermits());
        assertTrue(semaphore.tryAcquire().isEmpty());
        two.close();
        assertTrue(heavy.isDone() && small.isDone());
        assertFalse(last.isDone());
        assertEquals(1, semaphore.waiting());
        small.join().close();
        assertTrue(last.isDone());
    }

    @Test
    void acquire_atALevel_isOrderedByItWhereTheOrderIsPriority() {
        AsyncSemaphore urgent = AsyncSemaphore.create(1, WaitOrder.PRIORITY, null);
        Permit permit = urgent.acquire().join();
        List<Priority> served = new ArrayList<>();
        for (Priority level : List.of(Priority.IDLE, Priority.LOW, Priority.NORMAL, Priority.HIGH, Priority.CRITICAL)) {
            urgent.acquire(1, level).thenAccept(p -> {
                served.add(level);
                p.close();
            });
        }
        CompletableFuture<Permit> unsaid = urgent.acquire();
        unsaid.thenAccept(p -> served.add(null));
        permit.close();
        assertEquals(Priority.CRITICAL, served.get(0));
        assertEquals(Priority.HIGH, served.get(1));
        assertEquals(Priority.NORMAL, served.get(2));
        assertNull(served.get(3));
        unsaid.join().close();
        assertEquals(List.of(Priority.LOW, Priority.IDLE), served.subList(4, 6));
    }

    @Test
    void tryAcquire_returnsAtOnce() {
        Permit three = semaphore.tryAcquire(3).orElseThrow();
        assertTrue(semaphore.tryAcquire().isEmpty());
        assertTrue(semaphore.tryAcquire(1).isEmpty());
        assertEquals(0, semaphore.waiting());
        three.close();
        Permit one = semaphore.tryAcquire().orElseThrow();
        assertTrue(semaphore.tryAcquire(3).isEmpty());
        Permit two = semaphore.tryAcquire(2).orElseThrow();
        assertNotSame(one, two);
        assertEquals(0, semaphore.availablePermits());
    }

    static Stream<Duration> negative() {
        return Stream.of(
                Duration.ofNanos(-1),
                Duration.ofMillis(-1),
                Duration.ofSeconds(-1),
                Duration.ofSeconds(Long.MIN_VALUE));
    }

    @ParameterizedTest
    @MethodSource("negative")
    void acquire_withNegativeTimeout_isNowOrNotAtAll(Duration timeout) {
        Permit one = semaphore.acquire(timeout).join();
        Throwable e = failure(semaphore.acquire(3, timeout));
        assertInstanceOf(TimeoutException.class, e);
        assertTrue(e.getMessage().contains(timeout.toString()), e.getMessage());
        one.close();
        Permit all = semaphore.acquire(3, Priority.HIGH, timeout).join();
        assertInstanceOf(TimeoutException.class, failure(semaphore.acquire(1, Priority.HIGH, timeout)));
        all.close();
        assertEquals(3, semaphore.availablePermits());
        assertEquals(0, semaphore.waiting());
    }

    static Stream<Arguments> timeouts() {
        return Stream.of(
                Arguments.of(Duration.ZERO, 0L),
                Arguments.of(Duration.ofNanos(1), 1L),
                Arguments.of(Duration.ofNanos(999_999), 1L),
                Arguments.of(Duration.ofMillis(1), 1L),
                Arguments.of(Duration.ofNanos(1_000_001), 2L),
                Arguments.of(Duration.ofMillis(Long.MAX_VALUE - 1), Long.MAX_VALUE - 1),
                Arguments.of(Duration.ofMillis(Long.MAX_VALUE), Long.MAX_VALUE),
                Arguments.of(Duration.ofMillis(Long.MAX_VALUE).plusNanos(1), Long.MAX_VALUE),
                Arguments.of(Duration.ofSeconds(Long.MAX_VALUE), Long.MAX_VALUE),
                Arguments.of(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999), Long.MAX_VALUE));
    }

    @ParameterizedTest
    @MethodSource("timeouts")
    void timeout_isRoundedUpToMillisecondsAndNeverOverflows(Duration timeout, long millis) {
        assertEquals(millis, Timeout.millis(timeout));
    }

    @Test
    void acquire_withTimeoutZero_isNowOrNotAtAll() {
        Permit three = semaphore.acquire(3, Duration.ZERO).join();
        CompletableFuture<Permit> refused = semaphore.acquire(2, Duration.ZERO);
        var e = assertInstanceOf(TimeoutException.class, failure(refused));
        assertEquals(
                "no 2 permits within PT0S from Semaphore 'uplink' (permits = 3, available = 0, waiting = 0)",
                e.getMessage());
        three.close();
        assertEquals(3, semaphore.availablePermits());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 999_999, 1_000_001, 20_000_000})
    void acquire_afterTheTimeout_failsAndHoldsNothing(long nanos) {
        Permit two = semaphore.acquire(2).join();
        CompletableFuture<Permit> late = semaphore.acquire(2, Duration.ofNanos(nanos));
        CompletableFuture<Permit> behind = semaphore.acquire();
        var e = assertInstanceOf(TimeoutException.class, awaitFailure(late));
        assertTrue(e.getMessage().contains("2 permits") && e.getMessage().contains("'uplink'"), e.getMessage());
        await(behind).close();
        assertEquals(0, semaphore.waiting());
        two.close();
        assertEquals(3, semaphore.availablePermits());
    }

    @Test
    void acquire_withTheLongestTimeout_waitsAndIsGranted() {
        Permit three = semaphore.acquire(3).join();
        CompletableFuture<Permit> patient = semaphore.acquire(3, Duration.ofSeconds(Long.MAX_VALUE));
        CompletableFuture<Permit> other = semaphore.acquire(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999));
        assertEquals(2, semaphore.waiting());
        three.close();
        assertTrue(patient.isDone());
        assertTrue(other.cancel(true));
        patient.join().close();
        assertEquals(3, semaphore.availablePermits());
    }

    @Test
    void awaitIdle_completesWhenAllPermitsAreBack() {
        assertTrue(semaphore.awaitIdle().isDone());
        Permit one = semaphore.acquire().join();
        Permit two = semaphore.acquire(2).join();
        CompletableFuture<Void> idle = semaphore.awaitIdle();
        CompletableFuture<Void> leaves = semaphore.awaitIdle();
        assertEquals(0, semaphore.waiting());
        assertTrue(leaves.cancel(true));
        one.close();
        assertFalse(idle.isDone());
        two.close();
        assertTrue(idle.isDone());
        assertNull(idle.join());
        assertTrue(leaves.isCancelled());
    }

    @Test
    void resize_belowAWaitersWeight_failsThatOneAlone() {
        Permit three = semaphore.acquire(3).join();
        CompletableFuture<Permit> heavy = semaphore.acquire(3);
        CompletableFuture<Permit> small = semaphore.acquire(2);
        semaphore.resize(2);
        var e = assertInstanceOf(IllegalArgumentException.class, failure(heavy));
        assertTrue(e.getMessage().contains("3") && e.getMessage().contains("2"), e.getMessage());
        assertEquals(1, semaphore.waiting());
        three.close();
        small.join().close();
        assertEquals(2, semaphore.availablePermits());
    }

    @Test
    void close_failsWaitersAndNewcomersAndLetsHoldersRelease() {
        Permit three = semaphore.acquire(3).join();
        CompletableFuture<Permit> waits = semaphore.acquire();
        CompletableFuture<Integer> guarded = semaphore.withPermit(() -> CompletableFuture.completedFuture(1));
        CompletableFuture<Void> idle = semaphore.awaitIdle();
        Throwable why = new IllegalStateException("going down");
        semaphore.close(why);
        semaphore.close();
        for (CompletableFuture<?> f : List.of(
                waits,
                guarded,
                semaphore.acquire(),
                semaphore.acquire(2),
                semaphore.acquire(Duration.ofDays(1)),
                semaphore.acquire(Duration.ZERO),
                semaphore.acquire(1, Priority.HIGH, Duration.ofDays(1)),
                semaphore.withPermits(2, () -> CompletableFuture.completedFuture(1), Futures.REJECTING),
                semaphore.withPermit(() -> CompletableFuture.completedFuture(1)))) {
            var e = assertInstanceOf(SemaphoreClosedException.class, failure(f));
            assertSame(why, e.getCause());
            assertTrue(e.getMessage().contains("'uplink'"), e.getMessage());
        }
        assertThrows(SemaphoreClosedException.class, semaphore::tryAcquire);
        assertThrows(SemaphoreClosedException.class, () -> semaphore.resize(5));
        assertFalse(idle.isDone());
        three.close();
        assertTrue(idle.isDone());
        assertTrue(semaphore.awaitIdle().isDone());
        assertEquals(3, semaphore.availablePermits());
        assertTrue(semaphore.toString().endsWith(", closed)"), semaphore.toString());
    }

    private static void assertRefused(int number, Executable call) {
        var e = assertThrows(IllegalArgumentException.class, call);
        assertTrue(e.getMessage().contains(Integer.toString(number)), e.getMessage());
    }
}
