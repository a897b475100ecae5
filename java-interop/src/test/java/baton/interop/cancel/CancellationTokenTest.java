package baton.interop.cancel;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.CancellableFunction;
import baton.interop.CancellableFuture;
import baton.interop.CancellationToken;
import baton.interop.Futures;
import baton.interop.Futures.Steps;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The token of a {@link CancellableFuture}: its teardowns and interrupts. */
class CancellationTokenTest {
    private final Steps steps = new Steps();
    private final List<String> seen = new ArrayList<>();

    /** Runs the function at once; the test provides its body. */
    private CancellableFuture<String> now(CancellableFunction<String> function) {
        return CancellableFuture.supply(Runnable::run, function);
    }

    private CancellableFuture<String> queued(CancellableFunction<String> function) {
        return CancellableFuture.supply(steps, function);
    }

    @Test
    void teardown_ofOneThatSucceeds_neverRuns() {
        CancellationToken[] leaked = new CancellationToken[1];
        CancellableFuture<String> future = now(token -> {
            leaked[0] = token;
            token.onCancel(() -> seen.add("torn down"));
            return "value";
        });
        assertFalse(future.cancel(true) || future.complete("other") || future.completeExceptionally(new Exception()));
        leaked[0].onCancel(() -> seen.add("late"));
        future.obtrudeValue("obtruded");
        assertEquals("obtruded", future.join());
        assertEquals(List.of(), seen);
        assertFalse(leaked[0].isCancelled());
        assertEquals("CancellationToken (ended)", leaked[0].toString());
    }

    @Test
    void teardown_ofOneThatFails_runsBeforeItIsDone() {
        List<CancellableFuture<String>> futures = new ArrayList<>();
        CancellationToken[] leaked = new CancellationToken[1];
        IllegalStateException e = new IllegalStateException("function");
        IllegalStateException torn = new IllegalStateException("teardown");
        futures.add(queued(token -> {
            leaked[0] = token;
            token.onCancel(() -> seen.add("done " + futures.get(0).isDone()));
            token.onCancel(() -> {
                throw torn;
            });
            throw e;
        }));
        steps.runAll();
        assertSame(e, failure(futures.get(0)));
        assertEquals(List.of(torn), Arrays.asList(e.getSuppressed()));
        assertEquals(List.of("done false"), seen);
        assertFalse(leaked[0].isCancelled());
        leaked[0].onCancel(() -> seen.add("late"));
        assertEquals(List.of("done false", "late"), seen);
    }

    @Test
    void teardown_thatThrows_isAttachedToTheCancellationAndStopsNoOther() {
        IllegalStateException one = new IllegalStateException("one");
        Error two = new AssertionError("two");
        IOException after = new IOException("function, after its connection was closed");
        List<CancellableFuture<String>> futures = new ArrayList<>();
        futures.add(queued(token -> {
            token.onCancel(() -> {
                throw one;
            });
            token.onCancel(() -> seen.add("between"));
            token.onCancel(() -> {
                throw two;
            });
            futures.get(0).thenApply(x -> x).cancel(true);
            throw after;
        }));
        steps.runAll();
        CancellationException e = assertInstanceOf(CancellationException.class, failure(futures.get(0)));
        assertEquals(List.of(two, one, after), Arrays.asList(e.getSuppressed()));
        assertEquals(List.of("between"), seen);
    }

    @Test
    void teardown_thatThrowsAfterACompletionFromOutside_goesToTheHandler() {
        IllegalStateException torn = new IllegalStateException("teardown");
        List<Throwable> reported = Futures.reportedBy(() -> {
            List<CancellableFuture<String>> futures = new ArrayList<>();
            futures.add(queued(token -> {
                token.onCancel(() -> {
                    throw torn;
                });
                futures.get(0).complete("given");
                throw new IOException("thrown after the completion");
            }));
            steps.runAll();
            assertEquals("given", futures.get(0).join());
        });
        assertEquals(List.of(torn), reported);
    }

    @Test
    void teardown_thatThrowsToAHandlerThatThrows_stopsNoOther() {
        Consumer<Throwable> throwing = e -> {
            throw new IllegalStateException(e);
        };
        Futures.reportingTo(throwing, () -> {
            List<CancellableFuture<String>> futures = new ArrayList<>();
            futures.add(queued(token -> {
                token.onCancel(() -> seen.add("first registered"));
                token.onCancel(() -> {
                    throw new IllegalStateException("teardown");
                });
                futures.get(0).complete("given");
                return "too late";
            }));
            steps.runAll();
            assertEquals("given", futures.get(0).join());
        });
        assertEquals(List.of("first registered"), seen);
    }

    @Test
    void interruptible_cancelledFromOutside_isInterruptedOnlyWhileItRuns() throws Exception {
        CompletableFuture<Thread> runs = new CompletableFuture<>();
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        CancellableFuture<String> future = CancellableFuture.supply(
                task -> new Thread(() -> {
                            task.run();
                            flag.complete(Thread.currentThread().isInterrupted());
                        })
                        .start(),
                token -> {
                    token.interruptible();
                    token.interruptible();
                    runs.complete(Thread.currentThread());
                    new CompletableFuture<String>().get();
                    return "never";
                });
        await(runs);
        assertTrue(future.cancel(false));
        await(future.terminated());
        assertFalse(await(flag));
        assertEquals(0, failure(future).getSuppressed().length);
    }

    @Test
    void interruptible_thatDoesNotNotice_leavesNoInterruptBehind() {
        List<CancellableFuture<String>> futures = new ArrayList<>();
        futures.add(queued(token -> {
            token.interruptible();
            futures.get(0).cancel(true);
            seen.add("" + Thread.currentThread().isInterrupted());
            return "";
        }));
        futures.add(queued(token -> {
            futures.get(1).cancel(true);
            seen.add("" + Thread.currentThread().isInterrupted());
            token.interruptible();
            seen.add("" + Thread.currentThread().isInterrupted());
            return "";
        }));
        steps.runAll();
        assertEquals(List.of("true", "false", "true"), seen);
        assertFalse(Thread.currentThread().isInterrupted());
    }

    @Test
    void interrupt_thatIsNotOurs_stays() {
        now(token -> {
            token.interruptible();
            Thread.currentThread().interrupt();
            return "";
        });
        assertTrue(Thread.interrupted());
    }

    @Test
    void interruptible_fromElsewhere_isRefused() throws Exception {
        CancellationToken[] leaked = new CancellationToken[1];
        now(token -> {
            leaked[0] = token;
            return "";
        });
        assertThrows(IllegalStateException.class, leaked[0]::interruptible);
        now(token -> {
            CompletableFuture<Void> there = CompletableFuture.runAsync(token::interruptible);
            assertInstanceOf(IllegalStateException.class, awaitFailure(there).getCause());
            return "";
        });
    }

    @Test
    void token_toString_saysItsState() {
        CancellationToken[] leaked = new CancellationToken[1];
        List<CancellableFuture<String>> futures = new ArrayList<>();
        futures.add(queued(token -> {
            leaked[0] = token;
            seen.add(token.toString());
            futures.get(0).cancel(new IOException("why"));
            return "";
        }));
        steps.runAll();
        assertEquals(List.of("CancellationToken (active)"), seen);
        assertEquals("CancellationToken (cancelled: java.io.IOException: why)", leaked[0].toString());
    }
}
