package baton.interop.select;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncChannel;
import baton.interop.Futures;
import baton.interop.Select;
import baton.interop.futures.Ender;
import baton.interop.futures.Wait;
import baton.interop.futures.WaitKind;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Clauses of every kind win, lose, and are withdrawn. */
class SelectKindsTest {
    private final AsyncChannel<String> channel = AsyncChannel.create(0);
    private final Select<String> select = Select.first();

    static Stream<WaitKind> kinds() {
        return Arrays.stream(WaitKind.values()).filter(kind -> kind.create().isClause());
    }

    static Stream<Arguments> kindsAndEnders() {
        return kinds().flatMap(kind -> Arrays.stream(Ender.values()).map(ender -> Arguments.of(kind, ender)));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void clause_thatWaits_winsWhenGranted(WaitKind kind) {
        Wait wait = kind.create();
        select.onReceive(channel, x -> x);
        wait.addTo(select);
        CompletableFuture<String> winner = select.start();
        assertEquals("1 1", channel.waiting() + " " + wait.waiting());
        wait.grant();
        assertEquals("won", winner.join());
        assertEquals(0, channel.waiting() + wait.waiting());
        wait.checkGranted("won");
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void clause_thatNeedNotWait_winsAtOnce(WaitKind kind) {
        Wait wait = kind.create();
        wait.grant();
        select.onReceive(channel, x -> x);
        wait.addTo(select);
        assertEquals("won", select.start().join());
        assertEquals(0, channel.waiting() + wait.waiting());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void clause_thatLoses_leavesNothing(WaitKind kind) {
        Wait wait = kind.create();
        wait.addTo(select);
        CompletableFuture<String> winner =
                select.onReceive(channel, x -> wait.waiting() + x).start();
        assertTrue(channel.trySend(" wait when the winner's function runs"));
        assertEquals("0 wait when the winner's function runs", winner.join());
        wait.grant();
        wait.checkNothingLost();
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("kindsAndEnders")
    void future_endedFromOutside_withdrawsTheClause(WaitKind kind, Ender ender) {
        Wait wait = kind.create();
        wait.addTo(select);
        CompletableFuture<String> winner =
                select.onTimeout(Duration.ofDays(1), () -> "late").start();
        CompletableFuture<Integer> waitingThen = winner.handle((value, e) -> wait.waiting());
        ender.end(winner);
        assertEquals(0, await(waitingThen));
        assertEnded(winner, ender);
        wait.grant();
        wait.checkNothingLost();
    }

    /** The clause has won, but its executor has not begun: the grant is returned before the future is seen as ended. */
    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("kindsAndEnders")
    void future_endedFromOutsideBeforeTheFunctionBegins_givesTheGrantBack(WaitKind kind, Ender ender) {
        Wait wait = kind.create();
        Futures.Steps steps = new Futures.Steps();
        select.onReceive(channel, x -> x);
        wait.addTo(select);
        CompletableFuture<String> winner = select.start(steps);
        wait.grant();
        assertEquals(0, channel.waiting());
        assertFalse(winner.isDone());
        CompletableFuture<Boolean> seen = winner.handle((value, e) -> true);
        ender.end(winner);
        assertTrue(await(seen));
        if (kind == WaitKind.ARRIVE) wait.checkGranted("won"); // cannot be undone
        else wait.checkNothingLost();
        steps.runAll();
        assertEnded(winner, ender);
    }

    private static void assertEnded(CompletableFuture<String> winner, Ender ender) {
        assertEquals(ender.failure != null, winner.isCompletedExceptionally());
        assertEquals(ender.isCancel(), winner.isCancelled());
        if (ender.failure == null) assertEquals("outside", winner.join());
    }
}
