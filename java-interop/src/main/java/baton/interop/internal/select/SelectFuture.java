package baton.interop.internal.select;

import baton.interop.Permit;
import baton.interop.Select;
import baton.interop.internal.futures.CallbackExecutor;
import baton.interop.internal.futures.RevocableFuture;
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
 *            all clauses wait         a clause wins            its function begins
 *  REGISTERING ─────────────▶ OPEN ─────────────────▶ Attempt ─────────────────────▶ BEGUN
 *      │ └──────────────────────────────────────────────▲ │
 *      └────────────────────────┴─────────────────────────┴──────────────────────────▶ WITHDRAWN
 *                               ended from outside           its grant goes back
 * </pre>
 *
 * Every arrow is one compare-and-set. The thread that leaves OPEN withdraws the clauses that have not won; what one of
 * those is granted at the same moment it refuses, and the core passes it on.
 *
 * <p>While the select registers, only the thread that starts it decides, as in kotlinx.coroutines: a clause that meets
 * another select then cannot lose its own select before the other one has answered. REGISTERING is the list of the
 * attempts that other threads have met meanwhile. One that was offered something is refused and starts again; any other
 * keeps what it was granted, and the oldest of them wins when the starting thread looks next.
 */
public final class SelectFuture<R extends @Nullable Object> extends RevocableFuture<R> {
    private static final VarHandle PHASE;

    static {
        try {
            PHASE = MethodHandles.lookup().findVarHandle(SelectFuture.class, "phase", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** REGISTERING, and an attempt that was met; the last of a list is EMPTY. */
    private record Met(
            Clause.@Nullable Attempt attempt,
            boolean isRefused,
            @Nullable Met older) {}

    private static final Met EMPTY = new Met(null, false, null);
    private static final Object OPEN = new Object();
    private static final Object BEGUN = new Object();
    private static final Object WITHDRAWN = new Object();

    /** Emptied when they are not needed any more: a future may be kept for its value. */
    private List<Clause.Attempt> attempts;

    private final @Nullable Executor executor;
    private volatile Object phase = EMPTY;
    private volatile @Nullable Job running;

    private SelectFuture(List<Clause<R>> clauses, @Nullable Executor executor) {
        this.executor = executor;
        this.attempts = new ArrayList<>(clauses.size());
        for (Clause<R> clause : clauses) if (!clause.isLast()) attempts.add(clause.attempt(this));
        for (Clause<R> clause : clauses) if (clause.isLast()) attempts.add(clause.attempt(this));
    }

    /**
     * Starts an attempt of each clause.
     *
     * @param executor runs the winner's function; null for the thread that decides
     */
    public static <R extends @Nullable Object> SelectFuture<R> start(
            List<Clause<R>> clauses, @Nullable Executor executor) {
        SelectFuture<R> call = new SelectFuture<>(clauses, executor);
        call.register();
        return call;
    }

    private void register() {
        for (Clause.Attempt attempt : attempts) {
            start(attempt);
            if (isDecided()) return;
        }
        while (!PHASE.compareAndSet(this, EMPTY, OPEN)) if (isDecided()) return;
    }

    private void start(Clause.Attempt attempt) {
        try {
            attempt.start();
        } catch (Throwable e) { // of a stage that is not ours, or of a system without threads
            completeExceptionally(e);
        }
    }

    /** Lets the oldest attempt win that was met and has something, or starts those again that were refused. */
    private boolean isDecided() {
        while (true) {
            Object now = phase;
            if (!(now instanceof Met met)) return true;
            if (met.attempt == null) return false;
            Clause.Attempt winner = oldestWithGrant(met);
            if (!PHASE.compareAndSet(this, now, winner == null ? EMPTY : winner)) continue;
            if (winner != null) {
                undoAllBut(winner, met);
                won(winner);
                return true;
            }
            for (Met each = met; each.attempt != null && isUndecided(); each = next(each)) start(each.attempt);
        }
    }

    /** Whether no attempt has anything yet: one that is started now may still win. */
    private boolean isUndecided() {
        return phase instanceof Met met && oldestWithGrant(met) == null;
    }

    private static Met next(Met met) {
        return met.older == null ? EMPTY : met.older;
    }

    /** The oldest; but before all others one that the starting thread has just brought about, as that may be final. */
    private static Clause.@Nullable Attempt oldestWithGrant(Met met) {
        Clause.Attempt found = null;
        for (Met each = met; each != null; each = each.older) {
            Clause.Attempt attempt = each.attempt;
            if (attempt == null || each.isRefused) continue;
            if (attempt.isAtOnce()) return attempt;
            found = attempt;
        }
        return found;
    }

    private static void undoAllBut(Clause.@Nullable Attempt winner, Met met) {
        for (Met each = met; each != null; each = each.older) {
            Clause.Attempt attempt = each.attempt;
            if (attempt != null && attempt != winner && !each.isRefused) attempt.undo();
        }
    }

    /**
     * One attempt succeeds, and is finished or undone then; any other holds nothing and gets nothing.
     *
     * @param isOffered whether the caller keeps what it offers until the select has decided
     */
    boolean win(Clause.Attempt attempt, boolean isOffered) {
        while (true) {
            Object now = phase;
            if (now instanceof Met met) {
                if (PHASE.compareAndSet(this, now, new Met(attempt, isOffered, met))) return !isOffered;
            } else if (now != OPEN) {
                return false;
            } else if (PHASE.compareAndSet(this, OPEN, attempt)) {
                won(attempt);
                return true;
            }
        }
    }

    private void won(Clause.Attempt attempt) {
        // Flat already here: to withdraw a clause may let in another select, and that withdraws its own.
        CallbackExecutor.run(null, () -> {
            withdrawAllBut(attempt);
            if (executor == null) begin(attempt);
            else CallbackExecutor.run(executor, () -> begin(attempt));
        });
    }

    private void begin(Clause.Attempt winner) {
        if (PHASE.compareAndSet(this, winner, BEGUN)) winner.finish();
    }

    /** By the thread that has left OPEN or REGISTERING. */
    private void withdrawAllBut(Clause.@Nullable Attempt winner) {
        List<Clause.Attempt> all = attempts;
        attempts = List.of();
        for (Clause.Attempt attempt : all) if (attempt != winner) attempt.withdraw();
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
    public void withdraw() {
        while (true) {
            Object now = phase;
            boolean isOpen = now == OPEN || now instanceof Met;
            if (!isOpen && !(now instanceof Clause.Attempt)) return;
            if (now instanceof Clause.Attempt sent && sent.isFinal()) {
                // Too late: completed with the outcome instead.
                begin(sent);
                return;
            }
            if (!PHASE.compareAndSet(this, now, WITHDRAWN)) continue;
            if (now instanceof Clause.Attempt winner) winner.undo();
            if (now instanceof Met met) undoAllBut(null, met);
            if (isOpen) withdrawAllBut(null);
            return;
        }
    }

    @Override
    protected void cancelRunning() {
        Job job = running;
        if (job != null) job.cancel(new CancellationException());
    }
}
