package baton.interop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.function.Function;
import kotlinx.coroutines.Job;
import org.jspecify.annotations.Nullable;

/**
 * The future of a {@link Select} that runs.
 *
 * <pre>
 *          a clause wins            its function begins
 *  OPEN ─────────────────▶ Attempt ─────────────────────▶ BEGUN
 *    │                        │
 *    └────────────────────────┴──────────────────────────▶ WITHDRAWN
 *       ended from outside         its grant goes back
 * </pre>
 *
 * Every arrow is one compare-and-set. Whoever leaves OPEN withdraws the clauses that have not won; what one of those is
 * granted at the same moment it refuses, and the core passes it on.
 */
final class SelectCall<R extends @Nullable Object> extends Withdrawable<R> {
    private static final VarHandle PHASE;

    static {
        try {
            PHASE = MethodHandles.lookup().findVarHandle(SelectCall.class, "phase", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final Object OPEN = new Object();
    private static final Object BEGUN = new Object();
    private static final Object WITHDRAWN = new Object();

    private final List<Clause.Attempt> attempts;
    private final @Nullable Executor executor;
    private volatile Object phase = OPEN;
    private volatile @Nullable Job running;

    private SelectCall(List<Clause<R>> clauses, @Nullable Executor executor) {
        this.executor = executor;
        this.attempts = new ArrayList<>(clauses.size());
        // All of them before the first waits: whoever wins withdraws those, too, that have not begun.
        for (Clause<R> clause : clauses) if (!clause.isLast()) attempts.add(clause.attempt(this));
        for (Clause<R> clause : clauses) if (clause.isLast()) attempts.add(clause.attempt(this));
    }

    /** @param executor what runs the winner's function; null for the thread that decides */
    static <R extends @Nullable Object> SelectCall<R> start(List<Clause<R>> clauses, @Nullable Executor executor) {
        SelectCall<R> call = new SelectCall<>(clauses, executor);
        for (Clause.Attempt attempt : call.attempts) {
            if (call.phase != OPEN) break;
            try {
                attempt.start();
            } catch (RuntimeException e) { // of a stage that is not ours
                call.completeExceptionally(e);
            }
        }
        return call;
    }

    /** One attempt succeeds, and is finished or undone then; any other holds nothing and gets nothing. */
    boolean win(Clause.Attempt attempt) {
        if (!PHASE.compareAndSet(this, OPEN, attempt)) return false;
        // Flat already here: to withdraw a clause may let in another select, and that withdraws its own.
        Callbacks.run(null, () -> {
            withdrawAllBut(attempt);
            if (executor == null) begin(attempt);
            else Callbacks.run(executor, () -> begin(attempt));
        });
        return true;
    }

    private void begin(Clause.Attempt winner) {
        if (PHASE.compareAndSet(this, winner, BEGUN)) winner.finish();
    }

    private void withdrawAllBut(Clause.@Nullable Attempt winner) {
        for (Clause.Attempt attempt : attempts) if (attempt != winner) attempt.withdraw();
    }

    /**
     * Ends it with what {@code then} makes of {@code given}. What is {@code held} for that stays held only if this
     * future is completed with the outcome: a future that failed holds nothing.
     */
    <G extends @Nullable Object> void finish(Function<? super G, ? extends R> then, G given, @Nullable Permit held) {
        R outcome;
        try {
            outcome = then.apply(given);
        } catch (Throwable e) {
            close(held);
            fail(e);
            return;
        }
        if (!succeed(outcome)) close(held);
    }

    private static void close(@Nullable Permit held) {
        if (held == null) return;
        try {
            held.close();
        } catch (IllegalStateException misuse) {
            // Somebody else has given it back, past the permit. It is not held, and this thread must go on.
        }
    }

    /** The winner's function waits for that job, which is cancelled with this future. */
    void runs(Job job) {
        running = job;
        if (isCancelled()) job.cancel(new CancellationException());
    }

    @Override
    void withdraw() {
        if (PHASE.compareAndSet(this, OPEN, WITHDRAWN)) withdrawAllBut(null);
        else if (phase instanceof Clause.Attempt winner && PHASE.compareAndSet(this, winner, WITHDRAWN)) winner.undo();
    }

    @Override
    void cancelRunning() {
        Job job = running;
        if (job != null) job.cancel(new CancellationException());
    }
}
