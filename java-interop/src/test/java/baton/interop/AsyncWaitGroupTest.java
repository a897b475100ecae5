package baton.interop;

import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.sync.WaitGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class AsyncWaitGroupTest {
    private final AsyncWaitGroup group = AsyncWaitGroup.create("uploads");

    @Test
    void toString_saysNameAndState() {
        group.add(2);
        group.await();
        assertEquals("AsyncWaitGroup 'uploads' (count = 2, waiting = 1)", group.toString());
        assertEquals(
                "AsyncWaitGroup (count = 0, waiting = 0)",
                AsyncWaitGroup.create().toString());
    }

    @Test
    void of_aKotlinGroup_sharesItsState() {
        WaitGroup kotlin = new WaitGroup(null);
        AsyncWaitGroup face = AsyncWaitGroup.of(kotlin);
        assertSame(kotlin, face.kotlin());
        face.add();
        CompletableFuture<Void> waits = face.await();
        kotlin.done();
        assertNull(waits.join());
    }

    @Test
    void await_addFollowsZeroAtOnce_isDoneAllTheSame() {
        group.add();
        CompletableFuture<Void> old = group.await();
        group.done();
        group.add();
        assertTrue(old.isDone());
        CompletableFuture<Void> next = group.await();
        assertFalse(next.isDone());
        group.done();
        assertTrue(next.isDone());
    }

    @Test
    void await_timed_failsAfterTheTimeout() {
        assertTrue(group.await(Duration.ZERO).isDone());
        assertTrue(group.await(Duration.ofNanos(-1)).isDone());
        group.add();
        var now = assertInstanceOf(TimeoutException.class, failure(group.await(Duration.ZERO)));
        assertEquals("not at zero within PT0S: WaitGroup 'uploads' (count = 1, waiting = 0)", now.getMessage());
        assertInstanceOf(TimeoutException.class, awaitFailure(group.await(Duration.ofMillis(5))));
        for (Duration timeout : List.of(Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE))) {
            assertInstanceOf(TimeoutException.class, failure(group.await(timeout)));
        }
        assertEquals(0, group.waiting());
        CompletableFuture<Void> patient = group.await(Duration.ofSeconds(Long.MAX_VALUE));
        group.done();
        assertNull(patient.join());
    }

    @Test
    void await_withAnExecutor_isCompletedThere() {
        Futures.Steps steps = new Futures.Steps();
        group.add();
        CompletableFuture<Void> there = group.await(steps);
        group.done();
        assertFalse(there.isDone());
        steps.runAll();
        assertTrue(there.isDone());
    }

    /** The use case of the group: it awaits stages of other code, without joining them. */
    @Test
    void done_whenComplete_awaitsStagesThatBeginMeanwhile() {
        List<CompletableFuture<String>> stages = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            group.add();
            CompletableFuture<String> stage = new CompletableFuture<>();
            stage.whenComplete((value, e) -> group.done());
            stages.add(stage);
        }
        CompletableFuture<Void> all = group.await();
        stages.get(0).complete("done");
        stages.get(1).completeExceptionally(new IllegalStateException("failed"));
        group.add();
        stages.get(2).cancel(true);
        assertFalse(all.isDone());
        group.done();
        assertTrue(all.isDone());
    }

    @Test
    void misuse_throwsAtTheCallAndChangesNothing() {
        assertThrows(IllegalStateException.class, group::done);
        assertThrows(IllegalArgumentException.class, () -> group.add(0));
        group.add(Integer.MAX_VALUE);
        assertThrows(IllegalStateException.class, group::add);
        assertEquals(Integer.MAX_VALUE, group.count());
    }
}
