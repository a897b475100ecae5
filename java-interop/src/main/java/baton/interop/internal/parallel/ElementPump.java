package baton.interop.internal.parallel;

import baton.bridge.ElementMap;
import baton.interop.internal.futures.SerialDrain;
import baton.interop.internal.futures.Stages;
import baton.waiting.threads.Once;
import baton.waiting.threads.Trampoline;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Pulls elements and gives them to the mapper as long as there are places.
 *
 * <p>One thread pulls at a time, see {@link SerialDrain}: until there is neither a place nor a new signal. So a stage that
 * completes meanwhile only leaves its signal. Source and mapper are called by that thread alone, without a lock.
 *
 * <p>An exception of the source stops the map, which ends when its elements have ended. An error for want of memory or
 * stack may leave an element half ended, which would be in flight forever. So such an error breaks the pump: the map ends
 * at once, with that error. If there is no stack even for that, the signal throws, and the next signal ends the map.
 */
abstract class ElementPump<T extends @Nullable Object> {
    final ElementMap map;

    private final SerialDrain pulling = new SerialDrain(false);
    private final Function<? super T, ? extends CompletionStage<?>> mapper;
    private final Set<Element> running = ConcurrentHashMap.newKeySet();
    private volatile boolean stopped; // from outside

    /** The error after which the number of elements in flight may be wrong. */
    private volatile @Nullable Throwable breakage;

    /** Written by the puller. A thread finds itself here only if it pulls, however late it sees the writes of others. */
    private @Nullable Thread puller;

    ElementPump(ElementMap map, Function<? super T, ? extends CompletionStage<?>> mapper) {
        this.map = map;
        this.mapper = mapper;
    }

    /** How many elements may be pulled. Called by the puller. */
    abstract long places();

    /** Pulls one element or more, at most as many as there are places. Called by the puller while the map is open. */
    abstract void pull(long places);

    /** Nothing will be pulled any more. Called by the puller, perhaps more than once. */
    abstract void pulledAll();

    /** Why the value cannot be a result; null if it can. */
    @Nullable
    Throwable refusal(@Nullable Object value) {
        return null;
    }

    /** Called when an element has ended, before the signal for it. */
    void elementEnded() {}

    /** Called after each signal, but not while this thread pulls: then it is called when it has done so. */
    void signalled() {}

    /** A place may have become free, or the map may be over. */
    final void signal() {
        if (!pulling.signal()) {
            if (puller != Thread.currentThread()) signalled();
            return;
        }
        do {
            pulling.begin();
            puller = Thread.currentThread();
            boolean hasPulled = false;
            try {
                pullAll();
                hasPulled = true;
            } finally {
                puller = null;
                if (!hasPulled) pulling.abandon();
            }
        } while (!pulling.end());
        signalled();
    }

    private void pullAll() {
        try {
            while (breakage == null && map.isOpen()) {
                long places = places();
                if (places <= 0) return;
                pull(places);
            }
        } catch (Throwable e) {
            map.abandon(e);
        }
        Throwable error = breakage;
        if (error != null) map.abandon(error);
        pulledAll();
    }

    /** Whether all elements have ended, or the pump is broken, and nothing is pulled any more. */
    final boolean isMapOver() {
        return breakage != null || map.isOver();
    }

    /** Starts the element that was pulled last; false if it must not be started. Called by the puller. */
    final boolean start(T element) {
        try {
            Element started = new Element();
            started.index = map.start();
            if (started.index < 0) return false;
            started.run(element);
            return true;
        } catch (Throwable e) { // the exceptions of the function do not come here
            breakage = e;
            throw e;
        }
    }

    final boolean isStopped() {
        return stopped;
    }

    /** Nothing will be pulled any more. */
    final void stop(String call) {
        stopped = true;
        map.abandon(new CancellationException(call + " was cancelled"));
        signal();
    }

    final void cancelRunning() {
        running.forEach(Element::cancel);
    }

    /** An element in flight. It is true once it has ended, so a stage that says so twice counts once. */
    private final class Element extends Once implements BiConsumer<@Nullable Object, @Nullable Throwable> {
        private static final long serialVersionUID = 1;

        private transient int index;
        private transient volatile @Nullable CompletionStage<?> stage;

        void run(T element) {
            try {
                CompletionStage<?> mapped =
                        Objects.requireNonNull(mapper.apply(element), "the function returned null instead of a stage");
                stage = mapped;
                running.add(this);
                CompletionStage<?> after = mapped.whenComplete(this);
                // A stage keeps exceptions of its callbacks, also the error of a callback for whose call there is no
                // stack.
                if (Stages.isDone(after) && !isTaken())
                    throw new StackOverflowError("no stack for the end of an element");
            } catch (Throwable e) {
                accept(null, e);
                return;
            }
            // Not before the map is closed: else the place of the stage that is cancelled would be taken by another
            // element.
            if (stopped && map.isStopped()) cancel();
        }

        void cancel() {
            CompletionStage<?> current = stage;
            if (current != null && !isTaken()) Stages.cancel(current);
        }

        @Override
        public void accept(@Nullable Object value, @Nullable Throwable failure) {
            try {
                if (!take()) return;
                Throwable cause = failure == null ? refusal(value) : Stages.unwrap(failure);
                if (cause == null) map.succeed(index, value);
                else if (cause instanceof CancellationException) map.cancel(index, cause);
                else map.fail(index, cause);
                running.remove(this);
                elementEnded();
            } catch (Throwable e) {
                breakage = e;
            }
            try {
                signal();
            } catch (Throwable e) { // a stage keeps to itself what its callback throws
                Trampoline.report(e);
                throw e;
            }
        }
    }
}
