package baton.interop;

import baton.interop.internal.futures.CallerContext;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Lets code that Baton runs for a caller see the caller's context, never that of the thread that released the permit,
 * sent the element or freed the slot. It is off unless {@linkplain #enable enabled}, and until then it allocates
 * nothing.
 *
 * <p>Once it is enabled, the context is captured where a method of this package is called that waits or that takes code
 * to run: {@code acquire}, {@code lock}, {@code send}, {@code receive}, {@code arrive}, {@code await}; {@code
 * withPermit} and its kin; {@code schedule}; {@code AsyncRetry.call}; the functions of {@link Tasks}; {@code
 * Select.start}; {@code forEach}; {@code invokeOnClose}; {@code CancellableFuture.supply} and {@code TaskScope.fork}. It
 * is restored around the action, function or task given to that method, and around the
 * dependents that run when the returned future is completed by a grant, a failure or a timeout. (Dependents that are
 * added to a completed future run on the thread that adds them, in its context. Those of the future of an action run
 * where the stage of the action was completed, and those of a {@link CancellableFuture} where its function has ended.) A
 * retry runs all of its attempts, its functions and those of its policy in it.
 *
 * <p>The {@code ExecutorService}s, {@code executor(level)} of a scheduler and {@link PriorityExecutor}, capture the
 * context where {@code execute}, {@code submit} or {@code invokeAll} is called, and restore it around the command. For
 * {@code supplyAsync} that is the calling thread. A dependent such as {@code thenApplyAsync(…, executor)} is submitted
 * by the thread that completes the stage before it, and sees the context of that thread at that moment; where Baton
 * completes a request that waited, that is the context of the caller. A coroutine with such an executor as its
 * dispatcher is submitted by the thread that resumes it; {@code PriorityExecutor.kotlin()} is a dispatcher that carries
 * nothing.
 */
public final class ContextPropagation {
    private ContextPropagation() {}

    /** Uses {@code propagator}, in this process, for all calls from now on. Replaces the one before. */
    public static void enable(ContextPropagator<? extends @Nullable Object> propagator) {
        CallerContext.use(Objects.requireNonNull(propagator, "propagator"));
    }

    /** Captures no more contexts. Captured contexts are still restored. */
    public static void disable() {
        CallerContext.use(null);
    }
}
