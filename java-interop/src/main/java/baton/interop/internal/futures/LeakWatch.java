package baton.interop.internal.futures;

import baton.interop.LeakReport;
import baton.waiting.threads.Trampoline;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Watches one permit for {@link LeakReport}, from when it is handed out until it is closed. */
public final class LeakWatch extends PhantomReference<HeldPermit> {
    private static final Set<LeakWatch> watched = ConcurrentHashMap.newKeySet();
    private static final ReferenceQueue<HeldPermit> lost = new ReferenceQueue<>();
    private static volatile @Nullable Consumer<LeakReport.Leak> listener;

    private final String permit;
    private final Throwable handedOut = new Throwable("handed out here");

    private LeakWatch(HeldPermit permit) {
        super(permit, lost);
        this.permit = permit.describe();
    }

    /** See {@link LeakReport#enable}. */
    public static void enable(Consumer<LeakReport.Leak> listener) {
        LeakWatch.listener = listener;
    }

    /** See {@link LeakReport#disable}. */
    public static void disable() {
        listener = null;
        watched.clear();
        check();
    }

    /** See {@link LeakReport#check}. */
    public static void check() {
        Consumer<LeakReport.Leak> to = listener;
        while (lost.poll() instanceof LeakWatch watch) {
            if (watched.remove(watch) && to != null) report(new LeakReport.Leak(watch.permit, watch.handedOut), to);
        }
    }

    /** The thread that is handed a permit just now must get it, whatever the listener does. */
    private static void report(LeakReport.Leak leak, Consumer<LeakReport.Leak> to) {
        try {
            to.accept(leak);
        } catch (Throwable e) {
            Trampoline.report(e);
        }
    }

    static boolean isEnabled() {
        return listener != null;
    }

    static LeakWatch watch(HeldPermit permit) {
        LeakWatch watch = new LeakWatch(permit);
        watched.add(watch);
        return watch;
    }

    void close() {
        watched.remove(this);
        clear();
    }
}
