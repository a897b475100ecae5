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

import baton.interop.AsyncReadWriteLock;
import baton.interop.Futures;
import baton.interop.Futures.Steps;
import baton.interop.Permit;
import baton.interop.WritePermit;
import baton.sync.ReadWriteLock;
import baton.sync.ReadWritePolicy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class AsyncReadWriteLockTest {
    private static final Duration DAY = Duration.ofDays(1);

    private final AsyncReadWriteLock rw = AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, "cache");

    private void assertState(int readers, boolean written, int waiting) {
        assertEquals(
                "readers = " + readers + ", written = " + written + ", waiting = " + waiting,
                "readers = " + rw.readers() + ", written = " + rw.isWriteLocked() + ", waiting = " + rw.waiting());
    }

    private void assertHeld(ReadWriteWay way) {
        assertState(way == ReadWriteWay.WRITE ? 0 : 1, way == ReadWriteWay.WRITE, 0);
    }

    private void assertFree() {
        assertState(0, false, 0);
    }

    /** The owners that hold the lock, in any mode. */
    private List<Object> holders() {
        return Stream.concat(rw.writeHolder().stream(), rw.readHolders().stream())
                .toList();
    }

    @Test
    void toString_saysNameAndState() {
        assertEquals("AsyncReadWriteLock 'cache' (free, waiting = 0)", rw.toString());
        Permit permit = rw.lockWrite("me").join();
        CompletableFuture<Permit> waits = rw.lockRead();
        assertEquals("AsyncReadWriteLock 'cache' (written by me, waiting = 1)", rw.toString());
        permit.close();
        assertEquals("AsyncReadWriteLock 'cache' (readers = 1, waiting = 0)", rw.toString());
        waits.join().close();
        assertEquals(
                "AsyncReadWriteLock (free, waiting = 0)",
                AsyncReadWriteLock.create().toString());
    }

    @Test
    void create_withPolicy_hasIt() {
        assertSame(
                ReadWritePolicy.PHASE_FAIR, AsyncReadWriteLock.create().kotlin().getPolicy());
        for (ReadWritePolicy policy : ReadWritePolicy.values()) {
            assertSame(policy, AsyncReadWriteLock.create(policy).policy());
        }
    }

    @Test
    void of_aKotlinLock_sharesItsState() {
        ReadWriteLock kotlin = new ReadWriteLock(ReadWritePolicy.PHASE_FAIR, null);
        AsyncReadWriteLock face = AsyncReadWriteLock.of(kotlin);
        assertSame(kotlin, face.kotlin());
        assertTrue(kotlin.tryLockWrite(null));
        CompletableFuture<Permit> waits = face.read();
        kotlin.unlockWrite(null);
        waits.join().close();
        assertEquals(0, kotlin.getReaders());
    }

    @ParameterizedTest
    @EnumSource
    void lock_free_isDoneAtOnceInEveryForm(ReadWriteWay way) {
        List<Supplier<CompletableFuture<? extends Permit>>> forms = List.of(
                () -> way.lock(rw),
                () -> way.lock(rw, "me"),
                () -> way.lock(rw, null, Futures.REJECTING),
                () -> way.lock(rw, "me", Futures.REJECTING),
                () -> way.lock(rw, Duration.ZERO),
                () -> way.lock(rw, DAY),
                () -> way.lock(rw, "me", Duration.ZERO),
                () -> way.lock(rw, "me", DAY),
                () -> CompletableFuture.completedFuture(way.tryLock(rw).orElseThrow()),
                () -> CompletableFuture.completedFuture(way.tryLock(rw, "me").orElseThrow()));
        for (var form : forms) {
            CompletableFuture<? extends Permit> future = form.get();
            assertTrue(future.isDone());
            assertHeld(way);
            future.join().close();
            assertFree();
        }
    }

    @ParameterizedTest
    @EnumSource
    void lock_written_waitsInEveryFormAndComesInTurn(ReadWriteWay way) {
        Steps steps = new Steps();
        List<Supplier<CompletableFuture<? extends Permit>>> forms = List.of(
                () -> way.lock(rw),
                () -> way.lock(rw, "me"),
                () -> way.lock(rw, null, steps),
                () -> way.lock(rw, "me", steps),
                () -> way.lock(rw, DAY),
                () -> way.lock(rw, "me", DAY),
                () -> way.lock(rw, Duration.ofSeconds(Long.MAX_VALUE)),
                () -> way.lock(rw, null, Futures.REJECTING));
        for (int i = 0; i < forms.size(); i++) {
            WritePermit writer = rw.lockWrite("writer").join();
            CompletableFuture<? extends Permit> future = forms.get(i).get();
            assertFalse(future.isDone());
            assertState(0, true, 1);
            writer.close();
            assertHeld(way);
            assertEquals(i == 1 || i == 3 || i == 5 ? List.of("me") : List.of(), holders());
            assertEquals(i != 2 && i != 3, future.isDone());
            steps.runAll();
            future.join().close();
            assertFree();
        }
    }

    @ParameterizedTest
    @EnumSource
    void lock_written_isRefusedWhenItMayNotWait(ReadWriteWay way) {
        Permit writer = rw.lockWrite().join();
        assertTrue(way.tryLock(rw).isEmpty());
        assertTrue(way.tryLock(rw, "me").isEmpty());
        var e = assertInstanceOf(TimeoutException.class, failure(way.lock(rw, Duration.ZERO)));
        assertEquals(
                "not locked " + way.purpose + " within PT0S: ReadWriteLock 'cache' (written, waiting = 0)",
                e.getMessage());
        assertInstanceOf(TimeoutException.class, failure(way.lock(rw, "me", Duration.ZERO)));
        assertState(0, true, 0);
        writer.close();
        assertFree();
    }

    @ParameterizedTest
    @EnumSource
    void lock_afterTheTimeout_failsAndHoldsNothing(ReadWriteWay way) {
        Permit writer = rw.lockWrite().join();
        for (Duration timeout : List.of(Duration.ofNanos(1), Duration.ofMillis(20))) {
            assertInstanceOf(TimeoutException.class, awaitFailure(way.lock(rw, timeout)));
            assertInstanceOf(TimeoutException.class, awaitFailure(way.lock(rw, "me", timeout)));
        }
        assertState(0, true, 0);
        writer.close();
        assertFree();
    }

    @ParameterizedTest
    @EnumSource
    void lock_withNegativeTimeout_isNowOrNotAtAll(ReadWriteWay way) {
        for (Duration timeout : List.of(Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE))) {
            way.lock(rw, timeout).join().close();
            Permit writer = rw.lockWrite().join();
            assertInstanceOf(TimeoutException.class, failure(way.lock(rw, timeout)));
            assertInstanceOf(TimeoutException.class, failure(way.lock(rw, "me", timeout)));
            writer.close();
        }
        assertFree();
    }

    @Test
    void readersThatWait_comeInTogetherAndWritersInOrder() {
        Permit writer = rw.lockWrite().join();
        CompletableFuture<Permit> first = rw.read();
        CompletableFuture<Permit> next = rw.write();
        CompletableFuture<Permit> second = rw.lockRead("second");
        CompletableFuture<WritePermit> last = rw.lockWrite("last");
        assertState(0, true, 4);
        writer.close();
        assertState(2, false, 2);
        first.join().close();
        assertFalse(next.isDone());
        second.join().close();
        next.join().close();
        assertEquals(Optional.of("last"), rw.writeHolder());
        last.join().close();
        assertFree();
    }

    @Test
    void writerThatIsCancelled_grantsTheReadersItHeldBackBeforeItIsSeenCancelled() {
        Permit reader = rw.lockRead().join();
        CompletableFuture<WritePermit> writer = rw.lockWrite();
        CompletableFuture<Permit> held = rw.lockRead();
        CompletableFuture<Integer> seen = writer.handle((permit, e) -> rw.readers());
        assertState(1, false, 2);
        assertTrue(writer.cancel(true));
        assertEquals(2, seen.join());
        held.join().close();
        reader.close();
        assertFree();
    }

    @Test
    void owner_thatWouldWaitForItself_isRefusedInTheFuture() {
        Permit read = rw.lockRead("me").join();
        assertInstanceOf(IllegalStateException.class, failure(rw.lockWrite("me")));
        assertInstanceOf(IllegalStateException.class, failure(rw.lockWrite("me", DAY)));
        assertInstanceOf(IllegalStateException.class, failure(rw.withWrite("me", AsyncReadWriteLockTest::notRun)));
        assertThrows(IllegalStateException.class, () -> rw.tryLockWrite("me"));
        CompletableFuture<WritePermit> writer = rw.lockWrite("writer");
        var e = assertInstanceOf(IllegalStateException.class, failure(rw.lockRead("me")));
        assertTrue(e.getMessage().contains("me") && e.getMessage().contains("writer"), e.getMessage());
        assertInstanceOf(IllegalStateException.class, failure(rw.lockRead("me", DAY)));
        assertInstanceOf(IllegalStateException.class, failure(rw.lockRead("me", Futures.REJECTING)));
        assertInstanceOf(IllegalStateException.class, failure(rw.lockUpgradable("me")));
        assertTrue(rw.tryLockRead("me").isEmpty());
        assertState(1, false, 1);
        read.close();
        writer.join().close();
        assertFree();
    }

    @ParameterizedTest
    @EnumSource
    void owner_thatWrites_isRefusedInEveryWay(ReadWriteWay way) {
        Permit permit = rw.lockWrite("me").join();
        assertInstanceOf(IllegalStateException.class, failure(way.lock(rw, "me")));
        assertInstanceOf(IllegalStateException.class, failure(way.lock(rw, "me", Duration.ZERO)));
        assertInstanceOf(IllegalStateException.class, failure(way.lock(rw, "me", Futures.REJECTING)));
        assertThrows(IllegalStateException.class, () -> way.tryLock(rw, "me"));
        assertState(0, true, 0);
        permit.close();
        assertFree();
    }

    @Test
    void owners_areComparedByIdentity() {
        @SuppressWarnings("StringOperationCanBeSimplified")
        String twin = new String("me");
        Permit permit = rw.lockWrite("me").join();
        CompletableFuture<Permit> other = rw.lockRead(twin);
        permit.close();
        assertSame(twin, rw.readHolders().get(0));
        other.join().close();
    }

    @Test
    void owner_thatIsAnExecutorOrADuration_isTakenForOneWhereItCanBeToldApart() {
        Steps steps = new Steps();
        Permit permit = rw.lockRead(steps).join();
        assertEquals(List.of(steps), rw.readHolders());
        permit.close();
        permit = rw.lockWrite((Object) DAY).join();
        assertEquals(Optional.of(DAY), rw.writeHolder());
        permit.close();
        permit = rw.lockWrite(DAY, Duration.ZERO).join();
        assertEquals(Optional.of(DAY), rw.writeHolder());
        permit.close();
        permit = rw.lockWrite(DAY).join();
        assertEquals(Optional.empty(), rw.writeHolder());
        permit.close();
    }

    @Test
    void withRead_holdsUntilTheStageHasEnded() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> first = rw.withRead(() -> stage);
        CompletableFuture<String> second = rw.withRead("me", () -> stage);
        CompletableFuture<String> writes = rw.withWrite(() -> CompletableFuture.completedFuture("written"));
        assertState(2, false, 1);
        assertEquals(List.of("me"), rw.readHolders());
        stage.complete("done");
        assertEquals("done", await(first));
        assertEquals("done", await(second));
        assertEquals("written", await(writes));
        assertFree();
    }

    @Test
    void withWrite_holdsUntilTheStageHasEndedHoweverItDoes() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> call = rw.withWrite("me", () -> stage);
        assertEquals(Optional.of("me"), rw.writeHolder());
        CompletableFuture<String> reads = rw.withRead(() -> CompletableFuture.completedFuture("read"));
        assertState(0, true, 1);
        stage.completeExceptionally(new UnsupportedOperationException());
        assertInstanceOf(UnsupportedOperationException.class, awaitFailure(call));
        assertEquals("read", await(reads));
        CompletableFuture<String> throwing = rw.withWrite(() -> {
            throw new UnsupportedOperationException();
        });
        assertInstanceOf(UnsupportedOperationException.class, awaitFailure(throwing));
        assertFree();
    }

    @Test
    void withReadAndWithWrite_withExecutor_runThere() {
        Steps steps = new Steps();
        Supplier<CompletionStage<Boolean>> action = () -> CompletableFuture.completedFuture(rw.isWriteLocked());
        List<CompletableFuture<Boolean>> calls = List.of(
                rw.withRead(action, steps),
                rw.withRead("me", action, steps),
                rw.withWrite(action, steps),
                rw.withWrite("you", action, steps));
        assertEquals(2, steps.size());
        steps.runAll();
        assertEquals(
                List.of(false, false, true, true),
                calls.stream().map(Futures::await).toList());
        assertInstanceOf(RejectedExecutionException.class, failure(rw.withWrite(action, Futures.REJECTING)));
        assertInstanceOf(RejectedExecutionException.class, failure(rw.withRead("me", action, Futures.REJECTING)));
        assertFree();
    }

    @Test
    void withWrite_cancelledWhileItWaits_neverRunsAndLetsReadersIn() {
        Permit reader = rw.lockRead().join();
        CompletableFuture<String> call = rw.withWrite(AsyncReadWriteLockTest::notRun);
        CompletableFuture<Permit> held = rw.lockRead();
        assertTrue(call.cancel(true));
        held.join().close();
        reader.close();
        assertFree();
    }

    @Test
    void holders_areNamed() {
        Permit one = rw.lockRead("one").join();
        Permit again = rw.lockRead("one").join();
        Permit other = rw.lockUpgradable("other").join();
        assertState(3, false, 0);
        assertEquals(List.of("one", "other"), rw.readHolders());
        assertEquals(Optional.empty(), rw.writeHolder());
        one.close();
        assertEquals(List.of("one", "other"), rw.readHolders());
        again.close();
        other.close();
        assertEquals(List.of(), rw.readHolders());
        assertFree();
    }

    private static CompletionStage<String> notRun() {
        throw new AssertionError("ran");
    }
}
