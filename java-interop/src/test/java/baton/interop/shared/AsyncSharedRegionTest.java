package baton.interop.shared;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncSharedRegion;
import baton.shared.SharedLock;
import baton.shared.SharedRegionException;
import baton.shared.SharedRegionOptions;
import baton.shared.WaitMode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class AsyncSharedRegionTest {
    @TempDir
    private Path directory;

    private TwoMembers members;
    private AsyncSharedRegion region;

    @BeforeEach
    void open() {
        members = new TwoMembers(directory);
        region = members.here;
    }

    @AfterEach
    void close() {
        members.close();
    }

    @Test
    void bytes_areSharedByAllMembers_inNativeOrder() {
        ByteBuffer bytes = region.bytes("counter", 8);
        bytes.putLong(0, 42);
        ByteBuffer same = members.there.bytes("counter", 8);
        assertEquals(42, same.getLong(0));
        assertEquals(List.of(8, ByteOrder.nativeOrder()), List.of(same.capacity(), same.order()));
    }

    @Test
    void bytes_ofASizeOutOfRange_areRefusedWithTheBound() {
        for (int size : new int[] {Integer.MIN_VALUE, -1, 0, 1_048_577, Integer.MAX_VALUE}) {
            assertRefused("size = " + size + " of bytes 'x', must be within 1..1048576", () -> region.bytes("x", size));
        }
        assertEquals(1, region.bytes("least", 1).capacity());
        assertEquals(1_048_576, region.bytes("most", 1_048_576).capacity());
    }

    @Test
    void bytes_ofAnotherSize_areRefused() {
        region.bytes("x", 8);
        assertThrows(SharedRegionException.class, () -> members.there.bytes("x", 16));
    }

    @Test
    void names_outOfRange_areRefused() {
        for (String name : List.of("", "x".repeat(65), "ä".repeat(33))) {
            assertThrows(IllegalArgumentException.class, () -> region.mutex(name));
            assertThrows(IllegalArgumentException.class, () -> region.bytes(name, 8));
        }
        assertTrue(region.mutex("ä".repeat(32)).tryLock().isPresent());
    }

    private static void assertRefused(String message, Executable call) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, call).getMessage());
    }

    @Test
    void open_ofAFileThatIsNoRegion_isRefusedByName() throws Exception {
        Path file = directory.resolve("text");
        Files.writeString(file, "x".repeat(10_000));
        String message = assertThrows(SharedRegionException.class, () -> AsyncSharedRegion.open(file))
                .getMessage();
        assertTrue(message.contains("text"), message);
    }

    @Test
    void open_toPoll_polls() {
        try (AsyncSharedRegion polling =
                AsyncSharedRegion.open(directory.resolve("polling"), new SharedRegionOptions(WaitMode.POLLING))) {
            assertEquals(WaitMode.POLLING, polling.waiting());
            assertTrue(polling.toString().startsWith("AsyncSharedRegion '"), polling.toString());
        }
    }

    @Test
    void open_withPermissions_makesBothFilesForTheirUsers() throws IOException {
        Assumptions.assumeTrue(
                directory.getFileSystem().supportedFileAttributeViews().contains("posix"));
        Set<PosixFilePermission> group = PosixFilePermissions.fromString("rw-rw----");
        Path file = directory.resolve("group");
        AsyncSharedRegion.open(file, new SharedRegionOptions(WaitMode.FUTEX, group))
                .close();
        for (Path made : List.of(file, directory.resolve(".group.live")))
            assertEquals(group, Files.getPosixFilePermissions(made));
    }

    @Test
    void of_sharesAllState() {
        AsyncSharedRegion same = AsyncSharedRegion.of(region.kotlin());
        SharedLock held = same.mutex("m").tryLock().orElseThrow();
        assertTrue(region.mutex("m").tryLock().isEmpty());
        held.close();
    }

    @Test
    void close_withPendingFutures_failsThemWithAnErrorThatIsNoCancellation() {
        members.heldThere();
        List<CompletableFuture<SharedLock>> waiting = new ArrayList<>();
        for (int i = 0; i < 100; i++) waiting.add(members.mine.lock());
        waiting.add(members.mine.lock(Duration.ofDays(1)));
        region.close();
        for (CompletableFuture<SharedLock> future : waiting) {
            assertInstanceOf(SharedRegionException.class, awaitFailure(future));
            assertFalse(future.isCancelled());
        }
    }

    @Test
    void close_byAHolder_failsItsQueueAndAbandonsTheLock() {
        members.mine.tryLock().orElseThrow();
        CompletableFuture<SharedLock> behind = members.mine.lock();
        CompletableFuture<SharedLock> other = members.others.lock();
        region.close();
        assertInstanceOf(SharedRegionException.class, awaitFailure(behind));
        assertTrue(await(other).getAbandoned());
    }

    @Test
    void calls_afterClose_fail() throws Exception {
        region.close();
        region.close();
        assertInstanceOf(SharedRegionException.class, failure(members.mine.lock()));
        assertInstanceOf(SharedRegionException.class, failure(members.mine.lock(Duration.ofSeconds(1))));
        for (Executable call : List.<Executable>of(
                () -> members.mine.tryLock(),
                () -> members.mine.lockBlocking(),
                () -> members.mine.lockBlocking(Duration.ZERO),
                () -> region.mutex("m"),
                () -> region.bytes("m", 8))) {
            assertThrows(SharedRegionException.class, call);
        }
    }
}
