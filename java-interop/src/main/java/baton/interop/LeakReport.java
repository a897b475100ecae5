package baton.interop;

import baton.waiting.coroutine.Trampoline;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Names permits that became unreachable without having been closed: a forgotten {@code close()}, or a future that was
 * granted one and that nobody read. Off unless {@linkplain #enable enabled}; then every permit remembers where it was
 * handed out, which costs a stack trace each. Reporting gives nothing back: the permit stays lost, the report says
 * which.
 *
 * <p>There is no thread behind it: lost permits are looked for whenever a permit is handed out, and by {@link
 * #check()}. The garbage collector must have found them before.
 */
public final class LeakReport {
    private static final Set<Watch> watched = ConcurrentHashMap.newKeySet();
    private static final ReferenceQueue<HeldPermit> lost = new ReferenceQueue<>();
    private static volatile @Nullable Consumer<Leak> listener;

    private LeakReport() {}

    /**
     * A permit that was lost.
     *
     * @param permit what was held, in words
     * @param handedOut its stack trace says where
     */
    public record Leak(String permit, Throwable handedOut) {}

    /**
     * Reports permits that are handed out from now on to {@code listener}, which may be called by any thread. What it
     * throws goes to that thread's handler for uncaught exceptions.
     */
    public static void enable(Consumer<Leak> listener) {
        LeakReport.listener = Objects.requireNonNull(listener, "listener");
    }

    /** Ends reporting, and forgets the permits that were watched. */
    public static void disable() {
        listener = null;
        watched.clear();
        check();
    }

    /** Reports the permits that the garbage collector has found unreachable since the last look. */
    public static void check() {
        Consumer<Leak> to = listener;
        while (lost.poll() instanceof Watch watch) {
            if (watched.remove(watch) && to != null) report(new Leak(watch.permit, watch.handedOut), to);
        }
    }

    /** Whoever is handed a permit just now must get it, whatever the listener does. */
    private static void report(Leak leak, Consumer<Leak> to) {
        try {
            to.accept(leak);
        } catch (Throwable e) {
            Trampoline.report(e);
        }
    }

    static boolean isEnabled() {
        return listener != null;
    }

    static Watch watch(HeldPermit permit) {
        Watch watch = new Watch(permit);
        watched.add(watch);
        return watch;
    }

    static final class Watch extends PhantomReference<HeldPermit> {
        private final String permit;
        private final Throwable handedOut = new Throwable("handed out here");

        private Watch(HeldPermit permit) {
            super(permit, lost);
            this.permit = permit.describe();
        }

        void close() {
            watched.remove(this);
            clear();
        }
    }
}
