package baton.interop.locks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import baton.interop.AsyncReadWriteLock;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class AsyncReadWriteLockNullsTest {
    private static final Duration DAY = Duration.ofDays(1);

    private final AsyncReadWriteLock rw = AsyncReadWriteLock.create();

    static Stream<Arguments> nulls() {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create();
        Supplier<CompletionStage<String>> none = null;
        return Stream.of(
                call("lock", () -> AsyncReadWriteLock.of(null)),
                call("policy", () -> AsyncReadWriteLock.create(null)),
                call("policy", () -> AsyncReadWriteLock.create(null, "cache")),
                call("owner", () -> rw.lockRead((Object) null)),
                call("owner", () -> rw.lockWrite((Object) null)),
                call("owner", () -> rw.lockUpgradable((Object) null)),
                call("owner", () -> rw.lockRead(null, DAY)),
                call("owner", () -> rw.lockWrite(null, DAY)),
                call("owner", () -> rw.lockUpgradable(null, DAY)),
                call("timeout", () -> rw.lockRead((Duration) null)),
                call("timeout", () -> rw.lockWrite((Duration) null)),
                call("timeout", () -> rw.lockUpgradable((Duration) null)),
                call("timeout", () -> rw.lockRead("me", (Duration) null)),
                call("timeout", () -> rw.lockWrite("me", (Duration) null)),
                call("timeout", () -> rw.lockUpgradable("me", (Duration) null)),
                call("executor", () -> rw.lockRead("me", (Executor) null)),
                call("executor", () -> rw.lockWrite("me", (Executor) null)),
                call("executor", () -> rw.lockUpgradable("me", (Executor) null)),
                call("owner", () -> rw.tryLockRead(null)),
                call("owner", () -> rw.tryLockWrite(null)),
                call("owner", () -> rw.tryLockUpgradable(null)),
                call("action", () -> rw.withRead(none)),
                call("action", () -> rw.withWrite(none)),
                call("action", () -> rw.withRead("me", none)),
                call("action", () -> rw.withWrite("me", none)),
                call("owner", () -> rw.withRead((Object) null, AsyncReadWriteLockNullsTest::notRun)),
                call("owner", () -> rw.withWrite((Object) null, AsyncReadWriteLockNullsTest::notRun)),
                call("executor", () -> rw.withRead(AsyncReadWriteLockNullsTest::notRun, (Executor) null)),
                call("executor", () -> rw.withWrite(AsyncReadWriteLockNullsTest::notRun, (Executor) null)),
                call("action", () -> rw.withRead(none, (Executor) Runnable::run)),
                call("action", () -> rw.withWrite(none, (Executor) Runnable::run)),
                call("owner", () -> rw.withRead(null, AsyncReadWriteLockNullsTest::notRun, Runnable::run)),
                call("owner", () -> rw.withWrite(null, AsyncReadWriteLockNullsTest::notRun, Runnable::run)),
                call("action", () -> rw.withRead("me", null, Runnable::run)),
                call("action", () -> rw.withWrite("me", null, Runnable::run)),
                call("executor", () -> rw.withRead("me", AsyncReadWriteLockNullsTest::notRun, null)),
                call("executor", () -> rw.withWrite("me", AsyncReadWriteLockNullsTest::notRun, null)),
                call("timeout", () -> rw.tryLockUpgradable().orElseThrow().upgrade((Duration) null)));
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
    void null_asAnArgument_locksNothing() {
        assertThrows(NullPointerException.class, () -> rw.withRead(null, Runnable::run));
        assertThrows(NullPointerException.class, () -> rw.lockWrite("me", (Duration) null));
        assertThrows(NullPointerException.class, () -> rw.withWrite("me", AsyncReadWriteLockNullsTest::notRun, null));
        assertEquals("AsyncReadWriteLock (free, waiting = 0)", rw.toString());
    }

    private static CompletionStage<String> notRun() {
        throw new AssertionError("ran");
    }
}
