package baton.interop.internal.select;

import baton.interop.Permit;
import baton.interop.Select;
import baton.interop.internal.futures.CallbackExecutor;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.FieldHandle;
import baton.interop.internal.futures.RevocableFuture;
import baton.interop.internal.futures.WaitTrace;
import baton.waiting.Symbol;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Collectors;
import kotlinx.coroutines.Job;
import org.jspecify.annotations.Nullable;

/**
 * The future of one start of a {@link Select}.
 *
 * <pre>
 *            all clauses wait         a clause wins            its function begins
 *  REGISTERING ─────────────▶ OPEN ─────────────────▶ Attempt ─────────────────────▶ BEGUN
 *      │ └──────────────────────────────────────────────▲ │
 *      └────────────────────────┴─────────────────────────┴──────────────────────────▶ WITHDRAWN
 *                               ended from outside           its grant goes back
 * </pre>
 *
 * Every arrow is one compare-and-set. The thread that leaves OPEN withdraws the clauses that have not won. If one of
 * them is granted at the same moment, it refuses the grant, and the core passes it on.
 *
 * <p>While the select registers, only the thread that starts it decides, as in kotlinx.coroutines: so a clause that
 * meets another select cannot lose its own select before the other one has decided. REGISTERING is the list of the
 * attempts that other threads have met meanwhile. An attempt that was met with an offer refuses it and starts again.
 * Any other keeps its grant, and the oldest of these wins when the starting thread next reads the list.
 */
public final class SelectFuture<R extends @Nullable Object> extends RevocableFuture<R> {
    private static final VarHandle PHASE = FieldHandle.of(MethodHandles.lookup(), "phase", Object.class);

    /** REGISTERING: an attempt that was met, and those met before it. The last of a list is EMPTY. */
    private record Met(
            Clause.@Nullable Attempt attempt,
            boolean isRefused,
            @Nullable Met older) {}

    private static final Met EMPTY = new Met(null, false, null);

    /** The number of clauses that the description of a select shows. */
    private static final int MOST_DESCRIBED = 5;

    private static final Object OPEN = new Symbol("OPEN");
    private static final Object BEGUN = new Symbol("BEGUN");
    private static final Object WITHDRAWN = new Symbol("WITHDRAWN");

    /** Emptied when the select is decided, because the future may be kept for its value. */
    private List<Clause.Attempt> attempts;

    private final @Nullable Executor executor;
    private volatile Object phase = EMPTY;
    private volatile @Nullable Job running;
    private final @Nullable WaitTrace trace = WaitTrace.ofSelect();

    private SelectFuture(List<Clause<R>> clauses, @Nullable Executor executor) {
        this.executor = CallerContext.executor(executor);
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
        } catch (Throwable e) { // of a stage of the user's own, or of a system without threads
            completeExceptionally(e);
        }
    }

    /** Makes the oldest attempt with a grant win, or else starts those again that have refused an offer. */
    private boolean isDecided() {
        while (true) {
            Object now = phase;
            if (!(now instanceof Met met)) return true;
            if (met.attempt == null) return false;
            Clause.Attempt winner = oldestWithGrant(met);
            if (!PHASE.compareAndSet(this, now, winner == null ? EMPTY : winner)) continue;
            if (winner != null) {
                undoAllExcept(winner, met);
                finishWinner(winner);
                return true;
            }
            for (Met each = met; each.attempt != null && isUndecided(); each = next(each)) start(each.attempt);
        }
    }

    /** Whether no attempt has a grant yet, so one that is started now may still win. */
    private boolean isUndecided() {
        return phase instanceof Met met && oldestWithGrant(met) == null;
    }

    private static Met next(Met met) {
        return met.older == null ? EMPTY : met.older;
    }

    /** The oldest attempt with a grant; but first one that was granted at its own start, which may be final. */
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

    private static void undoAllExcept(Clause.@Nullable Attempt winner, Met met) {
        for (Met each = met; each != null; each = each.older) {
            Clause.Attempt attempt = each.attempt;
            if (attempt != null && attempt != winner && !each.isRefused) attempt.undo();
        }
    }

    /**
     * True for one attempt, which is finished or undone later; false if the attempt has to refuse its grant.
     *
     * @param isOffered whether the caller keeps its offer until the select has decided
     */
    boolean win(Clause.Attempt attempt, boolean isOffered) {
        while (true) {
            Object now = phase;
            if (now instanceof Met met) {
                if (PHASE.compareAndSet(this, now, new Met(attempt, isOffered, met))) return !isOffered;
            } else if (now != OPEN) {
                return false;
            } else if (PHASE.compareAndSet(this, OPEN, attempt)) {
                finishWinner(attempt);
                return true;
            }
        }
    }

    private void finishWinner(Clause.Attempt attempt) {
        // Bounds the stack here already: to withdraw a clause may grant another select, which withdraws its own.
        CallbackExecutor.run(null, () -> {
            withdrawAllExcept(attempt);
            if (executor == null) begin(attempt);
            else CallbackExecutor.run(executor, () -> begin(attempt));
        });
    }

    private void begin(Clause.Attempt winner) {
        if (PHASE.compareAndSet(this, winner, BEGUN)) winner.finish();
    }

    /** Called by the thread that has left OPEN or REGISTERING. */
    private void withdrawAllExcept(Clause.@Nullable Attempt winner) {
        List<Clause.Attempt> all = attempts;
        attempts = List.of();
        for (Clause.Attempt attempt : all) if (attempt != winner) attempt.withdraw();
    }

    /**
     * Completes this with the result of {@code then} for {@code given}. The permit {@code held} stays held only if this
     * call has completed the future: a future that failed holds nothing.
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

    /** The context in which the functions run, or another executor, or null. */
    @Nullable
    Executor executor() {
        return executor;
    }

    void finishFailed(Throwable why) {
        fail(why);
    }

    private static void close(@Nullable Permit held) {
        if (held == null) return;
        try {
            held.close();
        } catch (IllegalStateException misuse) {
            // Other code has released it, bypassing the permit. Nothing is held, and this thread must go on.
        }
    }

    private static CancellationException endedFromOutside() {
        return new CancellationException("the future of the select was cancelled or completed from outside");
    }

    /** The winner's function waits for the job, which is cancelled when this is completed from outside. */
    void awaitJob(Job job) {
        running = job;
        if (isDone() && job.isActive()) job.cancel(endedFromOutside());
    }

    @Override
    protected void withdraw() {
        while (true) {
            Object now = phase;
            boolean isOpen = now == OPEN || now instanceof Met;
            if (!isOpen && !(now instanceof Clause.Attempt)) return;
            if (now instanceof Clause.Attempt sent && sent.isFinal()) {
                // Too late to withdraw: completes this with the result instead.
                CallerContext.runFor(executor, () -> begin(sent));
                return;
            }
            if (!PHASE.compareAndSet(this, now, WITHDRAWN)) continue;
            if (now instanceof Clause.Attempt winner) winner.undo();
            if (now instanceof Met met) undoAllExcept(null, met);
            if (isOpen) withdrawAllExcept(null);
            return;
        }
    }

    @Override
    protected <E extends Throwable> E traced(E failure) {
        if (trace != null) trace.addTo(failure);
        return failure;
    }

    @Override
    protected String call() {
        return "select";
    }

    @Override
    protected String description() {
        List<Clause.Attempt> all = attempts;
        if (all.isEmpty()) return "select";
        String clauses = all.stream()
                .limit(MOST_DESCRIBED)
                .map(Clause.Attempt::description)
                .collect(Collectors.joining("; "));
        String more = all.size() > MOST_DESCRIBED ? "; …" : "";
        return "select of " + all.size() + (all.size() == 1 ? " clause: " : " clauses: ") + clauses + more;
    }

    @Override
    protected void cancelRunning() {
        Job job = running;
        if (job != null) job.cancel(endedFromOutside());
    }
}
