package baton.interop.internal.futures;

import baton.bridge.ChannelBridge;
import baton.bridge.SyncBridge;
import baton.channels.Channel;
import baton.waiting.WaitCore;
import baton.waiting.Waiter;
import baton.waiting.coroutine.Trampoline;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Takes elements out of a channel, one at a time and only on demand, and signals them one after the other.
 *
 * <p>Whatever happens (a request, an element, a cancellation) counts up {@link #turns}. Whoever counts up from 0
 * delivers, until nothing has happened since; all others leave it to that one. So signals are serial, and a request
 * from within a signal needs no stack. Who delivers has borrowed the thread: after {@link #BATCH} signals the rest goes
 * elsewhere.
 *
 * <p>What an {@link Entry} was granted is the subscriber's, or is given back, whichever settles it first. So what a
 * cancelled subscription has not delivered is given back at once, however long an executor takes to run its tasks.
 *
 * <p>While nothing is requested, a second entry waits for the end of the channel, which takes no demand to signal.
 */
public final class ChannelSubscription<T extends @Nullable Object> implements Flow.Subscription {
    private static final int BATCH = 64;

    private final Channel<T> channel;
    private final WaitCore core;
    private final @Nullable Executor executor;
    private final boolean reactive;
    private final AtomicLong demand = new AtomicLong();

    /** Begins at 1: nothing is signalled before onSubscribe has returned. */
    private final AtomicInteger turns = new AtomicInteger(1);

    /** Null when the subscription has ended. Only who delivers writes it. */
    private volatile Flow.@Nullable Subscriber<? super T> subscriber;

    /** Who waits for the next element. Only who delivers writes it. */
    private volatile @Nullable Entry entry;

    /** Who waits for the end, from when nothing was requested: the end is signalled without demand. As {@link #entry}. */
    private volatile @Nullable Entry endWatcher;

    private volatile @Nullable IllegalArgumentException misuse;
    private volatile boolean cancelled;

    private ChannelSubscription(
            Channel<T> channel, Flow.Subscriber<? super T> subscriber, @Nullable Executor executor, boolean reactive) {
        this.channel = channel;
        this.core = ChannelBridge.of(channel);
        this.subscriber = subscriber;
        this.executor = executor;
        this.reactive = reactive;
    }

    /**
     * Subscribes to the channel.
     *
     * @param executor runs the signals; null for the thread that subscribes, requests, sends or closes
     * @param reactive whether the rules of reactive streams hold for the subscriber: it never gets null
     */
    public static <T extends @Nullable Object> void subscribe(
            Channel<T> channel, Flow.Subscriber<? super T> subscriber, @Nullable Executor executor, boolean reactive) {
        Objects.requireNonNull(subscriber, "subscriber");
        ChannelSubscription<T> subscription = new ChannelSubscription<>(channel, subscriber, executor, reactive);
        try {
            subscriber.onSubscribe(subscription);
        } catch (Throwable e) {
            subscription.cancelled = true;
            Trampoline.report(e);
        }
        CallbackExecutor.run(executor, subscription::deliver);
    }

    @Override
    public void request(long n) {
        if (n <= 0)
            misuse = new IllegalArgumentException(
                    "request of n = " + n + ", must be at least 1 (Reactive Streams, rule 3.9)");
        else demand.getAndUpdate(old -> Long.MAX_VALUE - old < n ? Long.MAX_VALUE : old + n);
        happened();
    }

    @Override
    public void cancel() {
        cancelled = true;
        abandon(entry);
        abandon(endWatcher);
        happened();
    }

    private void happened() {
        if (turns.getAndIncrement() == 0) CallbackExecutor.run(executor, this::deliver);
    }

    private void deliver() {
        int seen = 1;
        int signals = 0;
        do {
            while (signalNext()) {
                if (++signals >= BATCH) {
                    goOnElsewhere();
                    return;
                }
            }
            seen = turns.addAndGet(-seen);
        } while (seen != 0);
    }

    private void goOnElsewhere() {
        Executor next = executor == null ? CallbackExecutor.ELSEWHERE : executor;
        CallbackExecutor.run(next, this::deliver);
    }

    /** False when there is nothing to signal, for now or for ever. */
    private boolean signalNext() {
        Flow.Subscriber<? super T> to = subscriber;
        if (to == null) return false;
        if (cancelled) {
            end();
            return false;
        }
        IllegalArgumentException refused = misuse;
        if (refused != null) {
            end();
            guarded(() -> to.onError(refused));
            return false;
        }
        Entry waiting = entry;
        if (waiting == null) {
            if (demand.get() == 0) {
                // A consumption asks again when it is through with its last element, which may take a while.
                if (reactive) watchEnd(to);
                return false;
            }
            waiting = new Entry(core, ChannelBridge.RECEIVE);
            entry = waiting;
            if (!enqueue(waiting)) return false;
        }
        return switch (waiting.outcome) {
            case Waiter.GRANTED -> {
                entry = null;
                if (waiting.settle()) signal(to, waiting);
                yield true;
            }
            case Waiter.FAILED -> {
                entry = null;
                end(to, core.failure(waiting));
                yield false;
            }
            default -> false;
        };
    }

    private void watchEnd(Flow.Subscriber<? super T> to) {
        Entry watcher = endWatcher;
        if (watcher == null) {
            watcher = new Entry(core, ChannelBridge.END);
            endWatcher = watcher;
            if (!enqueue(watcher)) return;
        }
        if (watcher.outcome == Waiter.FAILED) end(to, core.failure(watcher));
    }

    /** False if the subscription was cancelled meanwhile. */
    private boolean enqueue(Entry waiting) {
        // Whoever cancels looks at the entries after `cancelled`, so one of us two sees to it that it does not wait.
        if (cancelled) {
            end();
            return false;
        }
        waiting.enqueue();
        return true;
    }

    private void signal(Flow.Subscriber<? super T> to, Entry granted) {
        @SuppressWarnings("unchecked") // what was sent to a channel of T
        T element = (T) core.grantOf(granted, null);
        if (element == null && reactive) {
            SyncBridge.giveBack(granted);
            end();
            guarded(() -> to.onError(new NullPointerException("the next element is null, and stays in " + channel)));
            return;
        }
        SyncBridge.arrived(granted);
        demand.getAndUpdate(old -> old == Long.MAX_VALUE ? old : old - 1);
        guarded(() -> to.onNext(element));
    }

    /** The channel is closed and drained. */
    private void end(Flow.Subscriber<? super T> to, Throwable closed) {
        end();
        Throwable why = ChannelBridge.endOf(channel, closed);
        guarded(() -> {
            if (why == null) to.onComplete();
            else to.onError(why);
        });
    }

    /** Nothing will be signalled any more. */
    private void end() {
        subscriber = null;
        Entry waiting = entry;
        Entry watcher = endWatcher;
        entry = null;
        endWatcher = null;
        abandon(waiting);
        abandon(watcher);
    }

    private void abandon(@Nullable Entry waiting) {
        if (waiting != null) waiting.abandon();
    }

    /** A subscriber that throws has cancelled its subscription. */
    private void guarded(Runnable signal) {
        try {
            signal.run();
        } catch (Throwable e) {
            cancelled = true;
            Trampoline.report(e);
        }
    }

    @Override
    public String toString() {
        return "Subscription (requested = " + demand + (cancelled ? ", cancelled" : "") + ") to " + channel;
    }

    private final class Entry extends Waiter {
        private final AtomicBoolean settled = new AtomicBoolean();

        /** How it was decided; WAITING until then. */
        private volatile int outcome = WAITING;

        Entry(WaitCore core, Object tag) {
            super(core, 0, tag);
        }

        void enqueue() {
            int state = core.enqueue(this);
            // Resumed meanwhile, it knows better.
            if (state != WAITING) outcome = state;
        }

        /** One of them succeeds: who delivers what was granted, or who gives it back. */
        boolean settle() {
            return settled.compareAndSet(false, true);
        }

        void abandon() {
            if (withdraw(CANCELLED) == GRANTED && settle()) SyncBridge.giveBack(this);
        }

        /** What it was granted goes back if the subscription is cancelled before it is signalled. */
        @Override
        protected boolean getConfirms() {
            return true;
        }

        @Override
        protected boolean resume() {
            outcome = GRANTED;
            happened();
            return true;
        }

        @Override
        protected void resumeFailed() {
            outcome = FAILED;
            happened();
        }
    }
}
