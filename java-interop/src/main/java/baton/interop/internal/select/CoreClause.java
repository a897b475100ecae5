package baton.interop.internal.select;

import baton.bridge.SyncBridge;
import baton.interop.Permit;
import baton.interop.internal.futures.CallerContext;
import baton.sync.Barrier;
import baton.waiting.ClauseWaiter;
import baton.waiting.WaitCore;
import java.util.concurrent.CancellationException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A clause that waits in the queue of a primitive. */
abstract class CoreClause<R extends @Nullable Object> implements Clause<R> {
    private final WaitCore core;
    private final int number;
    private final @Nullable Object request;

    private CoreClause(WaitCore core, int number, @Nullable Object request) {
        this.core = core;
        this.number = number;
        this.request = request;
    }

    /** Completes the select with the grant of the winner. */
    abstract void finish(ClauseWaiter winner, SelectFuture<R> call);

    @Override
    public final Attempt attempt(SelectFuture<R> call) {
        return new CoreAttempt(call);
    }

    /** A clause whose function gets the grant itself. */
    static final class OfValue<G extends @Nullable Object, R extends @Nullable Object> extends CoreClause<R> {
        private final Function<ClauseWaiter, ? extends G> take;
        private final Function<? super G, ? extends R> then;

        /** @param take reads the argument of the function from the winner; if it throws, nothing is held */
        OfValue(
                WaitCore core,
                int number,
                @Nullable Object request,
                Function<ClauseWaiter, ? extends G> take,
                Function<? super G, ? extends R> then) {
            super(core, number, request);
            this.take = take;
            this.then = then;
        }

        @Override
        void finish(ClauseWaiter winner, SelectFuture<R> call) {
            G given;
            try {
                given = take.apply(winner);
            } catch (RuntimeException e) {
                call.finishFailed(e);
                return;
            }
            call.finish(then, given, null);
        }
    }

    /** A clause whose function gets a permit. */
    static final class OfPermit<P extends Permit, R extends @Nullable Object> extends CoreClause<R> {
        private final Supplier<? extends P> permit;
        private final Function<? super P, ? extends R> then;

        OfPermit(
                WaitCore core,
                int number,
                @Nullable Object request,
                Supplier<? extends P> permit,
                Function<? super P, ? extends R> then) {
            super(core, number, request);
            this.permit = permit;
            this.then = then;
        }

        @Override
        void finish(ClauseWaiter winner, SelectFuture<R> call) {
            P given = permit.get();
            call.finish(then, given, given);
        }
    }

    /** A party of a barrier. A last party that wins runs the barrier's action first. */
    static final class OfBarrier<R extends @Nullable Object> extends CoreClause<R> {
        private final Barrier barrier;
        private final Function<? super Integer, ? extends R> then;

        OfBarrier(Barrier barrier, Function<? super Integer, ? extends R> then) {
            super(SyncBridge.of(barrier), 1, null);
            this.barrier = barrier;
            this.then = then;
        }

        @Override
        void finish(ClauseWaiter winner, SelectFuture<R> call) {
            Object granted = winner.core.grantOf(winner, null);
            if (granted instanceof Integer index) call.finish(then, index, null);
            else if (granted != null) runAction(granted, call);
        }

        private void runAction(Object generation, SelectFuture<R> call) {
            call.awaitJob(SyncBridge.lead(
                    barrier,
                    generation,
                    (index, failure) -> CallerContext.runFor(call.executor(), () -> {
                        if (failure == null) call.finish(then, index, null);
                        else call.finishFailed(failure);
                    })));
        }
    }

    private final class CoreAttempt implements Attempt {
        private final SelectFuture<R> call;

        /** Written by the thread that starts the select. */
        private @Nullable Entry entry;

        CoreAttempt(SelectFuture<R> call) {
            this.call = call;
        }

        @Override
        public void start() {
            Entry entry = new Entry(this);
            this.entry = entry;
            entry.enqueue();
        }

        @Override
        public void withdraw() {
            Entry entry = this.entry;
            if (entry != null) entry.withdraw();
        }

        @Override
        public void finish() {
            Entry entry = this.entry;
            if (entry != null) entry.finish();
        }

        @Override
        public void undo() {
            Entry entry = this.entry;
            if (entry != null) entry.undoGrant();
        }

        @Override
        public String description() {
            Entry entry = this.entry;
            return (entry == null ? "" : core.verbOf(entry) + " of ") + core;
        }

        @Override
        public boolean isAtOnce() {
            Entry entry = this.entry;
            return entry != null && entry.grantedAtOnce;
        }

        @Override
        public boolean isFinal() {
            Entry entry = this.entry;
            return entry != null && entry.isSent;
        }
    }

    private final class Entry extends ClauseWaiter {
        private final CoreAttempt attempt;
        private boolean failed;

        /** Written and read by the thread that starts the select. */
        private boolean grantedAtOnce;

        Entry(CoreAttempt attempt) {
            super(CoreClause.this.core, CoreClause.this.number, CoreClause.this.request, attempt.call);
            this.attempt = attempt;
        }

        void enqueue() {
            int state = core.enqueue(this);
            if (state == FAILED) resumeFailed();
            else if (state == GRANTED) {
                grantedAtOnce = true;
                attempt.call.win(attempt, false);
            }
        }

        @Override
        protected boolean resume() {
            return attempt.call.win(attempt, isOffered);
        }

        @Override
        protected void resumeFailed() {
            failed = true;
            attempt.call.win(attempt, false);
        }

        void withdraw() {
            lose();
        }

        void finish() {
            if (failed) attempt.call.finishFailed(attempt.call.traced(core.failure(this)));
            else if (take()) CoreClause.this.finish(this, attempt.call);
            else
                attempt.call.finishFailed(
                        new CancellationException("select was cancelled: " + core.callOf(this) + " was taken back"));
        }

        void undoGrant() {
            if (!failed) undo();
        }
    }
}
