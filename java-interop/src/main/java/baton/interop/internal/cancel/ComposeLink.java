package baton.interop.internal.cancel;

import baton.interop.CancellableFuture;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A function that returns a stage and makes it a source of the dependent, so that a cancel of the dependent reaches it.
 */
public final class ComposeLink<A extends @Nullable Object, U extends @Nullable Object>
        implements Function<A, CompletionStage<U>> {
    private final Function<? super A, ? extends CompletionStage<U>> function;

    /** The inner stage or the dependent, whichever was set first; the thread with the other one links the two. */
    private final AtomicReference<@Nullable Object> first = new AtomicReference<>();

    public ComposeLink(Function<? super A, ? extends CompletionStage<U>> function) {
        this.function = Objects.requireNonNull(function, "function");
    }

    @Override
    public CompletionStage<U> apply(A argument) {
        CompletionStage<U> inner = function.apply(argument);
        if (inner != null
                && !first.compareAndSet(null, inner)
                && first.getAndSet(null) instanceof CancellationNode<?> dependent) dependent.addSource(inner);
        return inner;
    }

    /** Makes the stage that the function returns a source of the dependent. */
    public CancellableFuture<U> linkTo(CancellableFuture<U> dependent) {
        if (!first.compareAndSet(null, dependent) && first.getAndSet(null) instanceof CompletionStage<?> inner) {
            CancellationNode<U> node = dependent;
            node.addSource(inner);
        }
        return dependent;
    }
}
