package baton.interop;

import baton.sync.Barrier;
import baton.waiting.ClauseWaiter;
import baton.waiting.WaitCore;
import baton.waiting.WaitCores;
import baton.waiting.Waiter;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A clause that waits at a primitive, in the line of all others. */
abstract class CoreClause<R extends @Nullable Object> implements Clause<R> {
    private final WaitCore core;
    private final int weight;
    private final @Nullable Object tag;

    private CoreClause(WaitCore core, int weight, @Nullable Object tag) {
        this.core = core;
        this.weight = weight;
        this.tag = tag;
    }

    /** Ends the call with what the winner was granted. */
    abstract void finish(Waiter winner, SelectCall<R> call);

    /** It was granted and has lost. False leaves it to the core to take the grant back. */
    boolean lost(Waiter loser) {
        return false;
    }

    @Override
    public final Attempt attempt(SelectCall<R> call) {
        return new Entry(call, core, weight, tag);
    }

    /** One whose function gets what was granted. */
    static final class OfValue<G extends @Nullable Object, R extends @Nullable Object> extends CoreClause<R> {
        private final Function<Waiter, ? extends G> take;
        private final Function<? super G, ? extends R> then;

        /** @param take what the function is given, of a waiter that has won; may throw, holding nothing then */
        OfValue(
                WaitCore core,
                int weight,
                @Nullable Object tag,
                Function<Waiter, ? extends G> take,
                Function<? super G, ? extends R> then) {
            super(core, weight, tag);
            this.take = take;
            this.then = then;
        }

        @Override
        void finish(Waiter winner, SelectCall<R> call) {
            G given;
            try {
                given = take.apply(winner);
            } catch (RuntimeException e) {
                call.fail(e);
                return;
            }
            call.finish(then, given, null);
        }
    }

    /** One whose function gets a permit. */
    static final class OfPermit<P extends Permit, R extends @Nullable Object> extends CoreClause<R> {
        private final Supplier<? extends P> permit;
        private final Function<? super P, ? extends R> then;

        OfPermit(
                WaitCore core,
                int weight,
                @Nullable Object tag,
                Supplier<? extends P> permit,
                Function<? super P, ? extends R> then) {
            super(core, weight, tag);
            this.permit = permit;
            this.then = then;
        }

        @Override
        void finish(Waiter winner, SelectCall<R> call) {
            P given = permit.get();
            call.finish(then, given, given);
        }
    }

    /** A party of a barrier. One that comes last and wins runs the barrier's action first. */
    static final class OfBarrier<R extends @Nullable Object> extends CoreClause<R> {
        private final Barrier barrier;
        private final Function<? super Integer, ? extends R> then;

        OfBarrier(Barrier barrier, Function<? super Integer, ? extends R> then) {
            super(WaitCores.of(barrier), 1, null);
            this.barrier = barrier;
            this.then = then;
        }

        @Override
        void finish(Waiter winner, SelectCall<R> call) {
            Object granted = winner.core.grantOf(winner, null);
            if (granted instanceof Integer index) call.finish(then, index, null);
            else if (granted != null) lead(granted, call);
        }

        private void lead(Object generation, SelectCall<R> call) {
            call.runs(WaitCores.lead(barrier, generation, (index, failure) -> {
                if (failure == null) call.finish(then, index, null);
                else call.fail(failure);
            }));
        }

        /** Without its leader a generation breaks. */
        @Override
        boolean lost(Waiter loser) {
            WaitCores.giveBack(loser);
            return true;
        }
    }

    private final class Entry extends ClauseWaiter implements Attempt {
        private final SelectCall<R> call;
        private boolean failed;

        Entry(SelectCall<R> call, WaitCore core, int weight, @Nullable Object tag) {
            super(core, weight, tag, call);
            this.call = call;
        }

        @Override
        public void start() {
            int state = core.enqueue(this, false);
            if (state == FAILED) resumeFailed();
            else if (state == GRANTED && !call.win(this)) WaitCores.giveBack(this);
        }

        @Override
        protected boolean resume() {
            return call.win(this) || lost(this);
        }

        @Override
        protected void resumeFailed() {
            failed = true;
            call.win(this);
        }

        @Override
        public void withdraw() {
            withdraw(CANCELLED);
        }

        @Override
        public void finish() {
            if (failed) call.fail(core.failure(this));
            else CoreClause.this.finish(this, call);
        }

        @Override
        public void undo() {
            if (!failed) WaitCores.giveBack(this);
        }
    }
}
