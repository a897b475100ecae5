package baton.interop.internal.futures;

import baton.bridge.ChannelBridge;
import baton.bridge.SyncBridge;
import baton.channels.Channel;
import baton.waiting.WaitCore;
import baton.waiting.Waiter;
import baton.waiting.threads.Once;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Receives elements of a channel on demand, one at a time, and signals them in their order.
 *
 * <p>The delivering thread is a borrowed one: after {@link #BATCH} signals a callback thread, or the executor, goes on.
 *
 * <p>An element granted to an {@link Entry} is signalled or returned to the channel, by the thread that claims it
 * first. So a cancelled subscription returns an undelivered element at once, however long an executor takes to run its
 * tasks.
 *
 * <p>While nothing is requested, a second entry waits for the end of the channel, which is signalled without demand.
 */
public final class ChannelSubscription<T extends @Nullable Object> extends SerialSubscription<T> {
    private static final int BATCH = 64;

    private final Channel<T> channel;
    private final WaitCore core;
    private final boolean reactive;

    /** Waits for the next element. Written by the delivering thread alone. */
    private volatile @Nullable Entry entry;

    /** Waits for the end of the channel while nothing is requested. Written by the delivering thread alone. */
    private volatile @Nullable Entry endWatcher;

    private ChannelSubscription(
            Channel<T> channel, Flow.Subscriber<? super T> subscriber, @Nullable Executor executor, boolean reactive) {
        super(subscriber, executor, BATCH);
        this.channel = channel;
        this.core = ChannelBridge.of(channel);
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
        new ChannelSubscription<>(channel, subscriber, executor, reactive).begin();
    }

    @Override
    protected void stop() {
        abandon(entry);
        abandon(endWatcher);
    }

    @Override
    protected boolean signalNext(Flow.Subscriber<? super T> to) {
        Entry waiting = entry;
        if (waiting == null) {
            if (!isDemanded()) {
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
                signalClosed(to, core.failure(waiting));
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
        if (watcher.decision == Waiter.FAILED) signalClosed(to, core.failure(watcher));
    }

    /** False if the subscription has been cancelled. */
    private boolean enqueue(Entry waiting) {
        // A canceller reads the entries after it has cancelled, so one of the two threads abandons the entry.
        if (isCancelled()) return false;
        waiting.enqueue();
        return true;
    }

    private void signal(Flow.Subscriber<? super T> to, Entry granted) {
        @SuppressWarnings("unchecked") // what was sent to a channel of T
        T element = (T) core.grantOf(granted, null);
        if (element == null && reactive) {
            SyncBridge.giveBack(granted);
            stop();
            signalEnd(to, new NullPointerException("the next element is null, and stays in " + channel));
            return;
        }
        SyncBridge.arrived(granted);
        signalElement(to, element);
    }

    /** Signals the end of the channel, which is closed and drained. */
    private void signalClosed(Flow.Subscriber<? super T> to, Throwable closed) {
        stop();
        signalEnd(to, ChannelBridge.endOf(closed));
    }

    private void abandon(@Nullable Entry waiting) {
        if (waiting != null) waiting.abandon();
    }

    @Override
    protected Object source() {
        return channel;
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
