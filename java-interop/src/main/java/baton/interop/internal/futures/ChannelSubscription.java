package baton.interop.internal.futures;

import baton.bridge.ChannelBridge;
import baton.bridge.SyncBridge;
import baton.channels.Channel;
import baton.waiting.WaitCore;
import baton.waiting.Waiter;
import baton.waiting.threads.Once;
import baton.waiting.threads.Trampoline;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Receives elements of a channel on demand, one at a time, and signals them in their order.
 *
 * <p>Each event (a request, an element, a cancellation) increments {@link #events}. The thread that increments it from
 * 0 delivers until there is no further event; all other threads leave the delivery to that one. So signals are serial,
 * and a request from within a signal does not deepen the stack. The delivering thread is a borrowed one: after {@link
 * #BATCH} signals a callback thread, or the executor, goes on.
 *
 * <p>An element granted to an {@link Entry} is signalled or returned to the channel, by the thread that claims it
 * first. So a cancelled subscription returns an undelivered element at once, however long an executor takes to run its
 * tasks.
 *
 * <p>While nothing is requested, a second entry waits for the end of the channel, which is signalled without demand.
 */
public final class ChannelSubscription<T extends @Nullable Object> implements Flow.Subscription {
    private static final int BATCH = 64;

    private final Channel<T> channel;
    private final WaitCore core;
    private final @Nullable Executor executor;
    private final boolean reactive;
    private final AtomicLong demand = new AtomicLong();

    /** Starts at 1: nothing is signalled before onSubscribe has returned. */
    private final AtomicInteger events = new AtomicInteger(1);

    /** Null once the subscription has ended. Written by the delivering thread alone. */
    private volatile Flow.@Nullable Subscriber<? super T> subscriber;

    /** Waits for the next element. Written by the delivering thread alone. */
    private volatile @Nullable Entry entry;

    /** Waits for the end of the channel while nothing is requested. Written by the delivering thread alone. */
    private volatile @Nullable Entry endWatcher;

    private volatile @Nullable IllegalArgumentException invalidRequest;
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
     * @param reactive whether the rules of reactive streams hold for the subscriber, which then never gets null
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
            invalidRequest = new IllegalArgumentException(
                    "request of n = " + n + ", must be at least 1 (Reactive Streams, rule 3.9)");
        else demand.getAndUpdate(old -> Long.MAX_VALUE - old < n ? Long.MAX_VALUE : old + n);
        signalEvent();
    }

    @Override
    public void cancel() {
        cancelled = true;
        abandon(entry);
        abandon(endWatcher);
        signalEvent();
    }

    private void signalEvent() {
        if (events.getAndIncrement() == 0) CallbackExecutor.run(executor, this::deliver);
    }

    private void deliver() {
        int seen = 1;
        int signals = 0;
        do {
            while (signalOrFail()) {
                if (++signals >= BATCH) {
                    continueElsewhere();
                    return;
                }
            }
            seen = events.addAndGet(-seen);
        } while (seen != 0);
    }

    private void continueElsewhere() {
        Executor next = executor == null ? CallbackExecutor.ELSEWHERE : executor;
        CallbackExecutor.run(next, this::deliver);
    }

    /** As {@link #signalNext}. Its failure, for want of memory or stack say, is the end of the subscription. */
    private boolean signalOrFail() {
        Flow.Subscriber<? super T> to = subscriber;
        try {
            return signalNext();
        } catch (Throwable e) {
            endSubscription();
            if (to != null) callSubscriber(() -> to.onError(e));
            return false;
        }
    }

    /** False if there is nothing to signal, for now or for good. */
    private boolean signalNext() {
        Flow.Subscriber<? super T> to = subscriber;
        if (to == null) return false;
        if (cancelled) {
            endSubscription();
            return false;
        }
        IllegalArgumentException refused = invalidRequest;
        if (refused != null) {
            endSubscription();
            callSubscriber(() -> to.onError(refused));
            return false;
        }
        Entry waiting = entry;
        if (waiting == null) {
            if (demand.get() == 0) {
                // A forEach requests the next element when its action has ended, so it sees the end of the channel
                // then.
                if (reactive) watchEnd(to);
                return false;
            }
            waiting = new Entry(core, ChannelBridge.RECEIVE);
            entry = waiting;
            if (!enqueue(waiting)) return false;
        }
        return switch (waiting.decision) {
            case Waiter.GRANTED -> {
                entry = null;
                if (waiting.claim()) signal(to, waiting);
                yield true;
            }
            case Waiter.FAILED -> {
                entry = null;
                signalEnd(to, core.failure(waiting));
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
        if (watcher.decision == Waiter.FAILED) signalEnd(to, core.failure(watcher));
    }

    /** False if the subscription has been cancelled. */
    private boolean enqueue(Entry waiting) {
        // A canceller reads the entries after it has written `cancelled`, so one of the two threads abandons the entry.
        if (cancelled) {
            endSubscription();
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
            endSubscription();
            callSubscriber(
                    () -> to.onError(new NullPointerException("the next element is null, and stays in " + channel)));
            return;
        }
        SyncBridge.arrived(granted);
        demand.getAndUpdate(old -> old == Long.MAX_VALUE ? old : old - 1);
        callSubscriber(() -> to.onNext(element));
    }

    /** Signals the end of the channel, which is closed and drained. */
    private void signalEnd(Flow.Subscriber<? super T> to, Throwable closed) {
        endSubscription();
        Throwable why = ChannelBridge.endOf(channel, closed);
        callSubscriber(() -> {
            if (why == null) to.onComplete();
            else to.onError(why);
        });
    }

    /** From now on nothing is signalled. */
    private void endSubscription() {
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

    /** Calls the subscriber. If it throws, its subscription is cancelled. */
    private void callSubscriber(Runnable signal) {
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
        private final Once claimed = new Once();

        /** How the request was decided; WAITING until then. */
        private volatile int decision = WAITING;

        Entry(WaitCore core, Object request) {
            super(core, 0, request);
        }

        void enqueue() {
            int state = core.enqueue(this);
            // WAITING must not overwrite the decision on an entry that another thread has resumed meanwhile.
            if (state != WAITING) decision = state;
        }

        /** True for one thread: the one that delivers the grant, or the one that returns it. */
        boolean claim() {
            return claimed.take();
        }

        void abandon() {
            if (withdraw(CANCELLED) == GRANTED && claim()) SyncBridge.giveBack(this);
        }

        /** The grant returns to the channel if the subscription is cancelled before the grant is signalled. */
        @Override
        protected boolean getConfirms() {
            return true;
        }

        @Override
        protected boolean resume() {
            decision = GRANTED;
            signalEvent();
            return true;
        }

        @Override
        protected void resumeFailed() {
            decision = FAILED;
            signalEvent();
        }
    }
}
