package baton.interop.futures;

import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncChannel;
import baton.interop.AsyncSemaphore;
import baton.interop.CancellableFuture;
import baton.interop.Select;
import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The exception of a future that failed says which call it was and, under a switch, where the call was made. */
class FailureMessageTest {
    /** A request that waits; its name is what the stack trace has to show. */
    private static CompletableFuture<?> waitsHere(Wait wait) {
        return wait.plain.get();
    }

    private static CompletableFuture<?> waitsHereForAMoment(Wait wait) {
        return wait.timed.apply(Duration.ofMillis(1));
    }

    /** The requests that wait in the queue of a primitive. */
    static List<WaitKind> kinds() {
        return Arrays.stream(WaitKind.values())
                .filter(kind -> kind != WaitKind.SCHEDULE && kind != WaitKind.FUTURE)
                .toList();
    }

    private static String traceOf(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void cancel_ofARequest_saysOfWhichCallAndObject(WaitKind kind) {
        CompletableFuture<?> future = waitsHere(kind.create());
        assertTrue(future.cancel(true));
        Throwable e = assertInstanceOf(CancellationException.class, failure(future));
        assertTrue(e.getMessage().matches("[a-zA-Z ]+ of [A-Z].* was cancelled"), e.getMessage());
        assertEquals(0, e.getSuppressed().length, () -> traceOf(e));
        assertEquals(0, e.getStackTrace().length, () -> traceOf(e));
    }

    @Test
    void cancel_withPermit_saysWhetherTheActionHadBegun() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1, "uplink");
        var held = semaphore.acquire().join();
        CompletableFuture<Object> running = semaphore.withPermit(CompletableFuture::new);
        CompletableFuture<Object> waiting = semaphore.withPermit(CompletableFuture::new);
        held.close();
        waiting.cancel(true);
        running.cancel(true);
        assertEquals(
                "acquire of Semaphore 'uplink' was cancelled", failure(waiting).getMessage());
        assertEquals(
                "action after acquire of Semaphore 'uplink' was cancelled",
                failure(running).getMessage());
    }

    @Test
    void cancel_ofAFunction_readsNoStackTrace() {
        var work = CancellableFuture.supply(command -> {}, token -> 0);
        work.cancel(true);
        assertEquals(0, failure(work).getStackTrace().length);
    }

    @Test
    void failure_inAJvmThatTracesFutures_showsTheCallThatWaits() throws Exception {
        String java = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
        String classpath = System.getProperty("java.class.path");
        Process child = new ProcessBuilder(
                        java, "-Dbaton.futures.traces=true", "-cp", classpath, InAnotherJvm.class.getName())
                .redirectErrorStream(true)
                .start();
        String output = new String(child.getInputStream().readAllBytes());
        assertTrue(child.waitFor(120, SECONDS));
        assertEquals(kinds().size() + " kinds, lacking: []", output.trim());
    }

    /** The test above runs this program. */
    static final class InAnotherJvm {
        private InAnotherJvm() {}

        public static void main(String[] args) throws Exception {
            List<String> lacking = new ArrayList<>();
            for (WaitKind kind : kinds()) check(kind, lacking);
            AsyncSemaphore semaphore = AsyncSemaphore.create(1);
            var held = semaphore.acquire().join();
            var waiting = semaphore.withPermit(() -> CompletableFuture.completedFuture(1));
            semaphore.close();
            if (!traceOf(awaitFailure(waiting)).contains("InAnotherJvm.main")) lacking.add("closed");
            AsyncChannel<String> channel = AsyncChannel.create(1);
            var select = Select.<String>first().onReceive(channel, x -> x).start();
            channel.close();
            if (!traceOf(awaitFailure(select)).contains("InAnotherJvm.main")) lacking.add("select");
            held.close();
            System.out.println(kinds().size() + " kinds, lacking: " + lacking);
        }

        private static void check(WaitKind kind, List<String> lacking) {
            CompletableFuture<?> cancelled = waitsHere(kind.create());
            cancelled.cancel(true);
            CompletableFuture<?> overdue = waitsHere(kind.create()).orTimeout(1, TimeUnit.MILLISECONDS);
            for (CompletableFuture<?> future : List.of(cancelled, overdue)) {
                if (!traceOf(awaitFailure(future)).contains("waitsHere(")) lacking.add(kind.name());
            }
            if (awaitFailure(cancelled).getStackTrace().length == 0) lacking.add("cancelled " + kind);
            Wait wait = kind.create();
            if (wait.timed == null) return;
            Throwable late = awaitFailure(waitsHereForAMoment(wait));
            if (!traceOf(late).contains("waitsHereForAMoment(")) lacking.add("timed " + kind);
            if (Stream.of(late.getSuppressed()).distinct().count() != 1) {
                lacking.add("once " + kind + Arrays.toString(late.getSuppressed()));
            }
        }
    }
}
