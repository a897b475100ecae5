package baton.interop.stack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.CancellableFuture;
import baton.interop.Futures;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Many stages, each derived from the previous one. Runs with a small stack. */
class CancelChainStackTest {
    private static final int MANY = 20_000;

    private int tornDown;
    private final Futures.Steps steps = new Futures.Steps();

    private final CancellableFuture<Integer> source = CancellableFuture.supply(steps, token -> {
        token.onCancel(() -> tornDown++);
        return 0;
    });

    static Stream<UnaryOperator<CancellableFuture<Integer>>> links() {
        CompletableFuture<Integer> one = CompletableFuture.completedFuture(1);
        return Stream.of(
                stage -> stage.thenApply(x -> x + 1),
                stage -> stage.thenCombine(one, Integer::sum),
                stage -> CancellableFuture.of(one).thenCompose(x -> stage));
    }

    private CancellableFuture<Integer> chain(UnaryOperator<CancellableFuture<Integer>> link) {
        CancellableFuture<Integer> last = source;
        for (int i = 0; i < MANY; i++) last = link.apply(last);
        return last;
    }

    @ParameterizedTest
    @MethodSource("links")
    void cancel_ofTheEnd_reachesTheBeginning(UnaryOperator<CancellableFuture<Integer>> link) {
        CancellableFuture<Integer> last = chain(link);
        Exception reason = new Exception("enough");
        assertTrue(last.cancel(reason));
        assertTrue(source.isCancelled());
        assertSame(reason, Futures.failure(source).getCause());
        assertTrue(last.terminated().isDone());
    }

    @ParameterizedTest
    @MethodSource("links")
    void completion_ofTheBeginning_reachesTheEnd(UnaryOperator<CancellableFuture<Integer>> link) {
        CancellableFuture<Integer> last = chain(link);
        steps.runAll();
        assertTrue(last.join() == MANY || last.join() == 0);
        assertEquals(0, tornDown);
    }

    @Test
    void failure_ofTheBeginning_reachesTheEnd() {
        CancellableFuture<Integer> last = chain(stage -> stage.thenApply(x -> x));
        assertTrue(source.cancel(true));
        assertTrue(last.isCompletedExceptionally());
        assertTrue(last.terminated().isDone());
    }

    @Test
    void cancel_ofTheEndOfManyDiamonds_reachesTheBeginning() {
        CancellableFuture<Integer> last = chain(stage -> stage.thenCombine(stage, Math::max));
        assertTrue(last.cancel(true));
        assertTrue(source.isCancelled());
    }
}
