package baton.interop.internal.cancel;

import baton.interop.CancellableFuture;
import baton.interop.internal.futures.FieldHandle;
import baton.interop.internal.futures.RevocableFuture;
import baton.interop.internal.futures.Stages;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A {@link CancellableFuture} as a node of its chain: the futures before it are its sources, and its dependents are
 * counted.
 *
 * <p>The first of a chain has work, see {@link WorkNode}. A derived stage has sources instead; a thread that ends it
 * from outside takes the sources from it and leaves their {@link DependentCount}. The last to leave ends the source in
 * the same way.
 *
 * <p>An end from outside goes up the chain first, and withdraws the requests and cancels the work behind it; then the
 * links are completed, the last of the chain first. So a link that is seen completed has no request left in a queue. If
 * several threads end dependents of one link at the same time, the last of them completes it: until each has set its own
 * outcome, the failure of the link would be that outcome.
 */
public abstract class CancellationNode<T extends @Nullable Object> extends WorkNode<T> {
    private static final VarHandle SOURCES = FieldHandle.of(MethodHandles.lookup(), "sources", Object.class);
    private static final VarHandle DEPENDENTS =
            FieldHandle.of(MethodHandles.lookup(), "dependents", DependentCount.class);

    /** The length of the chains that a description follows to their work. */
    private static final int MOST_DESCRIBED = 1_000;

    /**
     * More than one source: each is a Sources, a DependentCount, a weak reference to a plain future, or another stage.
     */
    private record Sources(Object first, Object rest) {}

    /** Null, one source, Sources, or a Withdrawal once this was ended from outside. */
    private volatile @Nullable Object sources;

    private volatile @Nullable DependentCount dependents;

    /** A node with work, or null work for a derived stage. */
    protected CancellationNode(@Nullable CancellableWork work) {
        super(work);
    }

    @Override
    public abstract <U extends @Nullable Object> CancellableFuture<U> newIncompleteFuture();

    /** Makes this a source of the stage, which was just derived from it. */
    protected final <U extends @Nullable Object> CancellableFuture<U> derived(CompletableFuture<U> stage) {
        CancellableFuture<U> dependent;
        if (stage instanceof CancellableFuture<U> ours) {
            dependent = ours;
        } else { // made by the other source of two, which was done
            dependent = newIncompleteFuture();
            CancellationNode<U> copy = dependent;
            var unused = stage.whenComplete(copy::set);
            copy.addSource(stage);
        }
        addAsSourceOf(dependent, this);
        return dependent;
    }

    /** Makes this and the other one sources of the stage, which was just derived from them. */
    protected final <U extends @Nullable Object> CancellableFuture<U> derived(
            CompletionStage<?> other, CompletableFuture<U> stage) {
        CancellableFuture<U> dependent = derived(stage);
        addAsSourceOf(dependent, other);
        return dependent;
    }

    /** As {@link #derived(CompletionStage, CompletableFuture)}, for a stage that is done when one of the two is. */
    protected final <U extends @Nullable Object> CancellableFuture<U> derivedFromEither(
            CompletionStage<?> other, CompletableFuture<U> stage) {
        CancellableFuture<U> dependent = derived(other, stage);
        CancellationNode<U> node = dependent;
        if (!node.isDone()) node.whenDone(node::leaveSources);
        return dependent;
    }

    /**
     * The work behind this, of the first source where there are several. A loop, because chains are long, and bounded,
     * because a text need not be complete.
     */
    protected final String description() {
        CancellationNode<?> node = this;
        for (int stages = 0; stages < MOST_DESCRIBED; stages++) {
            CancellableWork first = node.work;
            String prefix = stages == 0 ? "CancellableFuture" : "stage of CancellableFuture";
            if (first != null) return prefix + " of " + first.description();
            Object source = node.sources;
            while (source instanceof Sources both) source = both.rest;
            Object before = source instanceof Reference<?> reference ? reference.get() : source;
            if (before instanceof CancellationNode<?> link) node = link;
            else return before instanceof CompletionStage<?> stage ? "stage of " + Stages.describe(stage) : prefix;
        }
        return "stage of CancellableFuture";
    }

    /**
     * Makes the stage a source of the dependent, which no other caller has yet: so none ends it meanwhile, and a plain
     * write does. The fence is that after the final fields of a new object: a thread that gets the dependent, even by a
     * data race, finds the source.
     */
    private static void addAsSourceOf(CancellationNode<?> dependent, CompletionStage<?> stage) {
        if (dependent.isDone()) return;
        Object source = sourceFrom(stage);
        if (source == null) return;
        Object others = SOURCES.get(dependent);
        SOURCES.set(dependent, others == null ? source : new Sources(source, others));
        VarHandle.storeStoreFence();
    }

    /** This is done, but one of its sources may not be: the source goes on, and this does not want it any more. */
    private void leaveSources() {
        Object taken = sources;
        if (taken == null || taken instanceof Withdrawal || !SOURCES.compareAndSet(this, taken, null)) return;
        for (Object next = taken; next != null; ) {
            Object first = next instanceof Sources both ? both.first : next;
            if (first instanceof DependentCount count) count.forget();
            next = next instanceof Sources both ? both.rest : null;
        }
    }

    /** Makes the stage a source of this, which any thread may end meanwhile. */
    final void addSource(CompletionStage<?> stage) {
        Object source = sourceFrom(stage);
        if (source == null) return;
        for (; ; ) {
            Object now = sources;
            if (now instanceof Withdrawal ending) {
                Withdrawal later = new Withdrawal(null, ending.why, ending.reason);
                leaveUpstream(source, later);
                whenDone(later::runCompletions);
                return;
            }
            if (SOURCES.compareAndSet(this, now, now == null ? source : new Sources(source, now))) return;
        }
    }

    /** The stage as a source of a new dependent, which it counts; null if it is done. */
    private static @Nullable Object sourceFrom(CompletionStage<?> stage) {
        if (stage instanceof CancellationNode<?> link) return link.isDone() ? null : link.countDependent();
        if (Stages.isKnownDone(stage)) return null;
        return stage instanceof CompletableFuture<?> ? new WeakReference<>(stage) : stage;
    }

    /** Counts one dependent more. */
    private DependentCount countDependent() {
        DependentCount count = dependents;
        if (count == null) {
            DependentCount first = new DependentCount(this);
            count = (DependentCount) DEPENDENTS.compareAndExchange(this, null, first);
            if (count == null) return first;
        }
        count.enter();
        return count;
    }

    /** Counts one dependent more that never leaves. */
    protected final void countDependentForGood() {
        if (!isDone()) {
            var unused = countDependent();
        }
    }

    /**
     * Ends this from outside, and all that was done for it alone. False if it had ended. This is completed last: once
     * it is seen completed, all requests behind it have been withdrawn.
     */
    protected final boolean endFromOutside(@Nullable T value, @Nullable Throwable failure, Throwable reason) {
        boolean counted = addOngoing();
        try {
            CancellableWork mine = work;
            if (mine != null) {
                Completion completion = Completion.fromOutside(value, failure, reason);
                if (!abandonWork(mine, completion)) return false;
                completeWith(mine, completion);
                return true;
            }
            Withdrawal withdrawal = new Withdrawal(this, upstreamFailure(failure, reason), reason);
            boolean ended = false;
            try {
                leaveUpstream(takeSources(withdrawal), withdrawal);
            } finally {
                ended = set(value, failure);
                withdrawal.runCompletions();
            }
            return ended;
        } finally {
            if (counted) removeOngoing();
        }
    }

    /** Takes the sources; null if there are none, or another withdrawal has taken them: that one stays. */
    private @Nullable Object takeSources(Withdrawal withdrawal) {
        for (; ; ) {
            Object now = sources;
            if (now instanceof Withdrawal) return null;
            if (SOURCES.compareAndSet(this, now, withdrawal)) return now;
        }
    }

    /**
     * Leaves the source, which ends if this was its last dependent, and so on upstream. A loop, because chains are
     * long.
     */
    private void leaveUpstream(@Nullable Object source, Withdrawal withdrawal) {
        ArrayDeque<Object> others = null;
        for (Object next = source; next != null; ) {
            Object further = null;
            if (next instanceof Sources both) {
                if (others == null) others = new ArrayDeque<>(4);
                others.push(both.rest);
                further = both.first;
            } else if (next instanceof DependentCount count) {
                further = leave(count, withdrawal);
            } else {
                Object stage = next instanceof Reference<?> reference ? reference.get() : next;
                if (stage instanceof CompletionStage<?> plain) {
                    withdrawal.runAfterwards(() -> Stages.cancel(plain));
                    if (plain instanceof RevocableFuture<?> request) withdrawRequest(request);
                }
            }
            next = further == null && others != null ? others.poll() : further;
        }
    }

    /** Leaves the link. If this ends the link, returns the sources to leave then. */
    private @Nullable Object leave(DependentCount count, Withdrawal withdrawal) {
        CancellationNode<?> link = count.get();
        if (link == null) return null; // no code can complete it or see its end
        DependentCount.Departure departure = count.leave();
        if (departure == DependentCount.Departure.AFTER_END) return null;
        boolean isLast = departure == DependentCount.Departure.LAST;
        withdrawal.leftAfterwards(link, isLast);
        if (!isLast || link.isDone()) return null;
        CancellableWork work = link.work;
        if (work != null) {
            abandonFirst(link, work, withdrawal);
            return null;
        }
        return link.takeSources(withdrawal);
    }

    /** Ends the work of the first of the chain; this terminates after it. */
    private void abandonFirst(CancellationNode<?> first, CancellableWork work, Withdrawal withdrawal) {
        if (!first.addOngoing()) return; // it has ended
        boolean ended = first.abandonWork(work, Completion.fromDependents(withdrawal.why, withdrawal.reason));
        if (ended && addOngoing()) {
            var unused = first.termination().whenComplete((value, e) -> removeOngoing());
        }
        if (!ended) first.removeOngoing();
    }

    /** Whether this is a derived stage that the withdrawal has ended from downstream. */
    final boolean hasEndedWith(Withdrawal withdrawal) {
        return sources == withdrawal;
    }

    /**
     * The stage for which the withdrawal has left this is completed. If its dependents have ended this, the last thread
     * that was leaving completes it, and then what else the withdrawal that ended this is to complete; then returns true.
     */
    final boolean left(Withdrawal withdrawal) {
        DependentCount count = dependents;
        if (count == null || !count.left()) return false;
        CancellableWork mine = work;
        if (mine != null) {
            Completion completion = mine.completion();
            if (completion != null && completion.isByDependents) {
                completeWith(mine, completion);
                removeOngoing(); // since abandonFirst
            }
        } else if (sources instanceof Withdrawal ending && ending.first != this) {
            set(null, ending.why);
            if (ending != withdrawal) ending.runCompletions();
        }
        return true;
    }

    /** All futures that one cancel reaches share one exception, so each shows what the teardowns of all have thrown. */
    private static CancellationException upstreamFailure(@Nullable Throwable failure, Throwable reason) {
        if (failure instanceof CancellationException e) return e;
        return reason instanceof CancellationException e ? e : Stages.cancellation(reason);
    }
}
