package baton.interop.futures;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.bridge.Durations;
import baton.interop.NoTimerThread;
import baton.interop.Permit;
import baton.interop.internal.futures.Timeout;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every kind of request with a timeout. */
class TimeoutTest {
    private static final List<Duration> NOW_OR_NEVER =
            List.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofSeconds(-1), Duration.ofSeconds(Long.MIN_VALUE));

    static Stream<WaitKind> timed() {
        return Arrays.stream(WaitKind.values()).filter(kind -> kind.create().timed != null);
    }

    @ParameterizedTest
    @MethodSource("timed")
    void timeout_withoutAThreadForTheTimer_throwsAndHoldsNothing(WaitKind kind) {
        Wait wait = kind.create();
        NoTimerThread.during(() -> {
            Throwable e = thrownBy(() -> failure(wait.timed.apply(Duration.ofHours(1))));
            assertInstanceOf(OutOfMemoryError.class, e);
        });
        assertEquals(0, wait.waiting());
        wait.grant();
        wait.checkNothingLost();
    }

    /** Either the call fails or its future. */
    private static Throwable thrownBy(Supplier<Throwable> call) {
        try {
            return call.get();
        } catch (OutOfMemoryError e) {
            return e;
        }
    }

    static Stream<WaitKind> plain() {
        return Arrays.stream(WaitKind.values()).filter(kind -> kind.create().plain != null);
    }

    @ParameterizedTest
    @MethodSource("plain")
    void orTimeout_withoutAThreadForTheTimer_failsAndWithdrawsTheRequest(WaitKind kind) {
        Wait wait = kind.create();
        CompletableFuture<?> future = wait.plain.get();
        NoTimerThread.during(() -> assertSame(future, future.orTimeout(1, TimeUnit.HOURS)));
        assertInstanceOf(OutOfMemoryError.class, awaitFailure(future));
        assertEquals(0, wait.waiting());
        wait.grant();
        wait.checkNothingLost();
    }

    @ParameterizedTest
    @MethodSource("timed")
    void timeout_zeroOrLess_failsAtOnceWithoutWaiting(WaitKind kind) {
        for (Duration timeout : NOW_OR_NEVER) {
            Wait wait = kind.create();
            Throwable e = failure(wait.timed.apply(timeout));
            assertEquals(wait.lateType, e.getClass());
            assertEquals(String.format(wait.late, Durations.textOf(timeout)), e.getMessage());
            assertEquals(0, wait.waiting());
            wait.grant();
            wait.checkNothingLost();
        }
    }

    @ParameterizedTest
    @MethodSource("timed")
    void timeout_ofARequestThatNeedNotWait_hasNoEffect(WaitKind kind) {
        for (Duration timeout : NOW_OR_NEVER) {
            Wait wait = kind.create();
            if (!wait.isGrantKept) return;
            wait.grant();
            wait.checkGranted(wait.timed.apply(timeout).join());
        }
    }

    @ParameterizedTest
    @MethodSource("timed")
    void timeout_expires_failsAndLeavesTheQueueBeforeThatIsSeen(WaitKind kind) {
        for (long nanos : new long[] {1, 999_999, 1_000_001, 20_000_000}) {
            Wait wait = kind.create();
            CompletableFuture<?> late = wait.timed.apply(Duration.ofNanos(nanos));
            CompletableFuture<Integer> seen = late.handle((value, e) -> wait.waiting());
            CompletableFuture<Permit> behind = wait.follow();
            assertEquals(wait.lateType, awaitFailure(late).getClass());
            if (behind != null) await(behind).close();
            else assertEquals(0, await(seen));
            wait.grant();
            wait.checkNothingLost();
        }
    }

    @ParameterizedTest
    @MethodSource("timed")
    void timeout_thatIsFarAway_waitsAndIsGrantedOrCancelled(WaitKind kind) {
        for (Duration timeout : List.of(Duration.ofDays(1), Duration.ofSeconds(Long.MAX_VALUE, 999_999_999))) {
            Wait granted = kind.create();
            CompletableFuture<?> patient = granted.timed.apply(timeout);
            assertFalse(patient.isDone());
            granted.grant();
            granted.checkGranted(await(patient));

            Wait withdrawn = kind.create();
            assertTrue(withdrawn.timed.apply(timeout).cancel(true));
            assertEquals(0, withdrawn.waiting());
            withdrawn.grant();
            withdrawn.checkNothingLost();
        }
    }

    static Stream<Arguments> rounded() {
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
    @MethodSource("rounded")
    void timeout_isRoundedUpToMillisecondsAndNeverOverflows(Duration timeout, long millis) {
        assertEquals(millis, Timeout.millis(timeout));
    }
}
