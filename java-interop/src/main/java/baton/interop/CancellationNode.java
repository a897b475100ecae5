package baton.interop;

import baton.interop.internal.futures.RevocableFuture;
import baton.interop.internal.futures.Stages;
import baton.waiting.coroutine.Trampoline;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link CancellableFuture} knows of the work behind it, and of those before and after it in its chain.
 *
 * <p>The first of a chain has a token: whoever sets an {@link Completion} into it decides how it is completed, and whoever
 * comes too late completes it with that. A derived stage has sources, and is decided as any CompletableFuture; whoever
 * ended it from outside takes its sources from it and leaves their {@link DependentCount}. The last to leave ends the source
 * in the same way.
 *
 * <p>An end from outside goes up the chain first, and leaves the requests and the work behind it; then the links are
 * completed, the last of the chain first. So a link that is seen completed has no request left in a queue.
 */
abstract class CancellationNode<T extends @Nullable Object> extends BinaryStages<T> {
    private static final VarHandle SOURCES;
    private static final VarHandle CONSUMERS;
    private static final VarHandle UNENDED;
    private static final VarHandle TERMINATION;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            SOURCES = lookup.findVarHandle(CancellationNode.class, "sources", Object.class);
            CONSUMERS = lookup.findVarHandle(CancellationNode.class, "consumers", DependentCount.class);
            UNENDED = lookup.findVarHandle(CancellationNode.class, "unended", int.class);
            TERMINATION = lookup.findVarHandle(CancellationNode.class, "termination", CompletableFuture.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** More than one source: each is a Sources, a DependentCount, a weak reference to a plain future, or another stage. */
    private record Sources(Object first, Object rest) {}

    /**
     * In the place of the sources of one that is ended from outside, and of all links that end with it. Those are
     * completed after it: before, they would complete it with their failure.
     */
    private static final class Withdrawn {
        final CancellationException why;
        final Throwable reason;

        /** Null when all is completed. Guarded by this. */
        private @Nullable List<Runnable> completions = new ArrayList<>();

        Withdrawn(CancellationException why, Throwable reason) {
            this.why = why;
            this.reason = reason;
        }

        /** Runs it when the one that was ended first is completed. */
        void afterwards(Runnable completion) {
            synchronized (this) {
                if (completions != null) {
                    completions.add(completion);
                    return;
                }
            }
            completion.run();
        }

        /** The one that was ended first is completed. */
        void completed() {
            for (List<Runnable> next = take(); !next.isEmpty(); next = take()) {
                for (Runnable completion : next) completion.run();
            }
        }

        private synchronized List<Runnable> take() {
            List<Runnable> taken = completions == null ? List.of() : completions;
            completions = taken.isEmpty() ? null : new ArrayList<>();
            return taken;
        }
    }

    private static final int TERMINATED = -1;

    final @Nullable CancellationToken token;

    private volatile @Nullable Object sources;
    private volatile @Nullable DependentCount consumers;

    /** How many things still go on for this; TERMINATED for good once that is none, and it is done. */
    private volatile int unended;

    private volatile @Nullable CompletableFuture<@Nullable Void> termination;

    CancellationNode(@Nullable CancellationToken token) {
        this.token = token;
        if (token != null) unended = 1; // the function, or the stage
    }

    @Override
    final <U extends @Nullable Object> CancellableFuture<U> derived(CompletableFuture<U> stage) {
        CancellableFuture<U> dependent;
        if (stage instanceof CancellableFuture<U> ours) {
            dependent = ours;
        } else { // made by the other source of two, which was done
            CancellableFuture<U> copy = new CancellableFuture<>(null);
            var unused = stage.whenComplete(copy::set);
            copy.consume(stage);
            dependent = copy;
        }
        if (!dependent.isDone()) dependent.consume(this);
        return dependent;
    }

    @Override
    final <U extends @Nullable Object> CancellableFuture<U> derived(
            CompletionStage<?> other, CompletableFuture<U> stage) {
        CancellableFuture<U> dependent = derived(stage);
        if (!dependent.isDone()) dependent.consume(other);
        return dependent;
    }

    @Override
    final <U extends @Nullable Object> CancellableFuture<U> ofEither(
            CompletionStage<?> other, CompletableFuture<U> stage) {
        CancellableFuture<U> dependent = derived(other, stage);
        if (!dependent.isDone()) dependent.whenDone(dependent::letGo);
        return dependent;
    }

    /** It is done, and one of its sources may not be: that goes on, but is not wanted for this any more. */
    final void letGo() {
        Object taken = sources;
        if (taken == null || taken instanceof Withdrawn || !SOURCES.compareAndSet(this, taken, null)) return;
        for (Object next = taken; next != null; ) {
            Object first = next instanceof Sources both ? both.first : next;
            if (first instanceof DependentCount left) {
                var unused = left.leave();
            }
            next = next instanceof Sources both ? both.rest : null;
        }
    }

    /** Makes the stage a source of this, which was or will be derived from it. */
    final void consume(CompletionStage<?> stage) {
        if (stage instanceof Future<?> future && future.isDone()) return;
        Object source = stage;
        if (stage instanceof CancellationNode<?> link) source = link.consumers().enter();
        else if (stage instanceof CompletableFuture<?>) source = new WeakReference<>(stage);
        for (; ; ) {
            Object now = sources;
            if (now instanceof Withdrawn withdrawn) {
                leave(source, withdrawn);
                return;
            }
            if (SOURCES.compareAndSet(this, now, now == null ? source : new Sources(source, now))) return;
        }
    }

    final DependentCount consumers() {
        DependentCount now = consumers;
        if (now != null) return now;
        DependentCount mine = new DependentCount(this);
        DependentCount before = (DependentCount) CONSUMERS.compareAndExchange(this, null, mine);
        return before == null ? mine : before;
    }

    /** Completes it; failure null for the value. */
    final boolean set(@Nullable T value, @Nullable Throwable failure) {
        return failure == null ? super.complete(value) : super.completeExceptionally(failure);
    }

    /**
     * Ends it from outside, and all that was done for it alone. False if it had ended. It is completed last: whatever
     * waits behind it has been left when that can be seen.
     */
    final boolean end(@Nullable T value, @Nullable Throwable failure, Throwable reason) {
        boolean kept = keep();
        try {
            CancellationToken mine = token;
            if (mine != null) {
                Completion completion = Completion.fromOutside(value, failure, reason);
                if (!leaveWork(mine, completion)) return false;
                completeAs(mine, completion);
                return true;
            }
            Withdrawn withdrawn = new Withdrawn(upwards(failure, reason), reason);
            boolean ended = false;
            try {
                Object taken = withdraw(withdrawn);
                if (taken != null) leave(taken, withdrawn);
            } finally {
                ended = set(value, failure);
                withdrawn.completed();
            }
            return ended;
        } finally {
            if (kept) release();
        }
    }

    private @Nullable Object withdraw(Withdrawn withdrawn) {
        Object taken = SOURCES.getAndSet(this, withdrawn);
        return taken instanceof Withdrawn ? null : taken;
    }

    /** Tells the source that this does not want it any more, and so on upwards. A loop, for chains are long. */
    private void leave(Object source, Withdrawn withdrawn) {
        ArrayDeque<Object> open = new ArrayDeque<>(4);
        for (Object next = source; next != null; next = open.poll()) {
            if (next instanceof Sources both) {
                open.push(both.rest);
                open.push(both.first);
            } else if (next instanceof DependentCount left) {
                CancellationNode<?> link = left.leave() ? left.get() : null;
                if (link == null || link.isDone()) continue;
                CancellationToken work = link.token;
                if (work != null) {
                    leaveFirst(link, work, withdrawn);
                    continue;
                }
                withdrawn.afterwards(() -> link.set(null, withdrawn.why));
                Object further = link.withdraw(withdrawn);
                if (further != null) open.push(further);
            } else {
                Object stage = next instanceof Reference<?> reference ? reference.get() : next;
                if (!(stage instanceof CompletionStage<?> plain)) continue;
                withdrawn.afterwards(() -> Stages.cancel(plain));
                if (plain instanceof RevocableFuture<?> request) withdraw(request);
            }
        }
    }

    /** The first of the chain ends with this, which terminates after it. */
    private void leaveFirst(CancellationNode<?> first, CancellationToken work, Withdrawn withdrawn) {
        boolean kept = first.keep();
        Completion completion = Completion.fromDependents(withdrawn.why, withdrawn.reason);
        if (first.leaveWork(work, completion)) {
            if (keep()) {
                var unused = first.termination().whenComplete((value, e) -> release());
            }
            withdrawn.afterwards(() -> {
                first.completeAs(work, completion);
                if (kept) first.release();
            });
        } else if (kept) {
            first.release();
        }
    }

    /**
     * Decides how the work ends, and leaves it; the caller completes this. False if it had ended: then this is
     * completed with that, here or by the thread that ends it.
     */
    private boolean leaveWork(CancellationToken mine, Completion completion) {
        CompletionStage<?> source = mine.source;
        // Before the decision: a request that is found granted ends this with the grant, which would else be lost.
        if (source instanceof RevocableFuture<?> request) {
            withdraw(request);
            if (request.isDone()) settleAs(mine, request);
        }
        if (!mine.end(completion)) {
            setAsDecided(mine);
            return false;
        }
        if (mine.task != null && mine.task.take() != null) release(); // its function will never begin
        if (source != null) cancel(source, completion);
        mine.interrupt(completion);
        return true;
    }

    private static void withdraw(RevocableFuture<?> request) {
        try {
            request.withdraw();
        } catch (Throwable e) {
            Trampoline.report(e);
        }
    }

    private static void cancel(CompletionStage<?> source, Completion completion) {
        try {
            Stages.cancel(source);
        } catch (Throwable e) { // of a stage of the user's own
            completion.attach(e);
        }
    }

    @SuppressWarnings("unchecked") // only this puts values into its token
    private void completeAs(CancellationToken mine, Completion completion) {
        boolean entered = mine.enter();
        try {
            set((T) completion.value, completion.failure);
            if (mine.scope != null && completion.failure != null) mine.scope.failed(this, completion.failure);
            mine.tearDown(completion);
        } finally {
            mine.leave(entered);
        }
    }

    /** Not in the place of the thread that ends it by its dependents: that completes those first. */
    @SuppressWarnings("unchecked") // only this puts values into its token
    private void setAsDecided(CancellationToken mine) {
        Completion completion = mine.completion();
        if (completion != null && !completion.isByDependents) set((T) completion.value, completion.failure);
    }

    /** Runs the function, on this thread. */
    final void work(CancellationToken mine, CancellableFunction<? extends T> function) {
        boolean entered = mine.enter();
        T value = null;
        Throwable failure = null;
        mine.begun();
        try {
            value = function.call(mine);
        } catch (Throwable e) {
            failure = e;
        }
        mine.returned();
        try {
            settle(mine, value, failure);
        } finally {
            mine.leave(entered);
            release();
        }
    }

    /** What was done for this has ended by itself. */
    final void ended(CancellationToken mine, @Nullable T value, @Nullable Throwable failure) {
        settle(mine, value, failure);
        mine.source = null; // not before: who ends this from outside asks it
        release();
    }

    /** Its source has completed, though this may not have heard of it. */
    @SuppressWarnings("unchecked") // only that of a T is a source
    private void settleAs(CancellationToken mine, CompletableFuture<?> source) {
        var unused = ((CompletableFuture<T>) source)
                .whenComplete((value, e) -> settle(mine, value, e == null ? null : Stages.unwrap(e)));
    }

    private void settle(CancellationToken mine, @Nullable T value, @Nullable Throwable failure) {
        Completion completion = Completion.byItself(value, failure);
        if (mine.end(completion)) {
            if (failure != null && mine.scope != null) mine.scope.failed(this, failure);
            mine.tearDown(completion);
            set(value, failure);
        } else if (failure != null) {
            Completion before = mine.completion();
            if (before != null) before.failedAfterwards(failure);
        }
    }

    /** Something goes on for this, until as many calls of {@link #release}. False if it has terminated. */
    private boolean keep() {
        for (; ; ) {
            int now = unended;
            if (now == TERMINATED) return false;
            if (UNENDED.compareAndSet(this, now, now + 1)) return true;
        }
    }

    private void release() {
        if ((int) UNENDED.getAndAdd(this, -1) == 1) terminate();
    }

    /** If it is over. */
    private void terminate() {
        if (!isDone() || !UNENDED.compareAndSet(this, 0, TERMINATED)) return;
        CancellationToken mine = token;
        boolean entered = mine != null && mine.enter();
        CompletableFuture<@Nullable Void> told = termination;
        if (told != null) told.complete(null);
        if (mine == null) return;
        mine.leave(entered);
        // The last: nothing of the scope runs after its block, not even who was told just now.
        if (mine.scope != null) mine.scope.terminated(this);
    }

    final CompletableFuture<@Nullable Void> termination() {
        CompletableFuture<@Nullable Void> now = termination;
        if (now != null) return now;
        CompletableFuture<@Nullable Void> mine = new CompletableFuture<>();
        if (!TERMINATION.compareAndSet(this, null, mine)) return termination();
        // A derived stage that is completed by its sources hears of it in no other way.
        if (token == null) whenDone(this::terminate);
        if (unended == TERMINATED) mine.complete(null);
        return mine;
    }

    /** All that one cancel reaches share one exception, so each shows what the teardowns of all have thrown. */
    private static CancellationException upwards(@Nullable Throwable failure, Throwable reason) {
        if (failure instanceof CancellationException e) return e;
        return reason instanceof CancellationException e ? e : cancellation(reason);
    }

    static CancellationException cancellation(Throwable reason) {
        CancellationException e = new CancellationException(reason.toString());
        e.initCause(reason);
        return e;
    }
}
