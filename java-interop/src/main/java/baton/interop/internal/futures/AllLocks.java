package baton.interop.internal.futures;

import baton.bridge.SyncBridge;
import baton.interop.Permit;
import baton.sync.Mutex;
import baton.waiting.keys.KeyEntry;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The future of several mutexes, locked one after the other in the order of their leases. One thread at a time goes on:
 * the one that completes the request at the present mutex. A withdrawal sets its mark before it cancels that request,
 * and the thread that goes on reads the mark after it has published the next request: one of the two cancels it.
 */
public final class AllLocks extends RevocableFuture<Permit> {
    private final List<? extends KeyEntry<Mutex>> leases;

    /** How many are locked, by the thread that goes on. */
    private int locked;

    private volatile @Nullable CompletableFuture<Permit> current;
    private volatile boolean isWithdrawn;

    private AllLocks(List<? extends KeyEntry<Mutex>> leases) {
        this.leases = leases;
    }

    /** Locks all. The leases end with the permit or, if none is granted, before the future completes. */
    public static CompletableFuture<Permit> request(List<? extends KeyEntry<Mutex>> leases) {
        AllLocks all = new AllLocks(leases);
        all.lockNext();
        return all;
    }

    private void lockNext() {
        try {
            while (locked < leases.size()) {
                Mutex mutex = leases.get(locked).value;
                if (!mutex.tryLock(null)) {
                    await(mutex);
                    return;
                }
                locked++;
            }
        } catch (Throwable e) { // memory or stack is exhausted
            giveUp(e);
            return;
        }
        HeldPermit permit = new AllPermit(leases);
        if (!succeed(permit.handedOut())) permit.close();
    }

    private void await(Mutex mutex) {
        CompletableFuture<Permit> grant = WaiterFuture.enqueue(
                SyncBridge.of(mutex), 1, null, (Permit) new MutexPermit(mutex, null), null, null, null);
        current = grant;
        if (isWithdrawn) grant.cancel(false);
        var unused = grant.whenComplete((permit, e) -> {
            if (e != null) {
                giveUp(e);
                return;
            }
            // Its leak is watched as that of the permit of all.
            if (permit instanceof HeldPermit held) held.markClosed();
            locked++;
            lockNext();
        });
    }

    private void giveUp(Throwable why) {
        release(leases, locked);
        if (!isWithdrawn) fail(Stages.unwrap(why));
    }

    private static void release(List<? extends KeyEntry<Mutex>> leases, int locked) {
        for (int i = leases.size() - 1; i >= 0; i--) {
            if (i < locked) leases.get(i).value.unlock(null);
            leases.get(i).end();
        }
    }

    @Override
    protected void withdraw() {
        isWithdrawn = true;
        CompletableFuture<Permit> grant = current;
        if (grant != null) grant.cancel(false);
    }

    @Override
    protected String description() {
        return "lock of " + leases.size() + " keys";
    }

    private static final class AllPermit extends HeldPermit {
        private final List<? extends KeyEntry<Mutex>> leases;

        AllPermit(List<? extends KeyEntry<Mutex>> leases) {
            this.leases = leases;
        }

        @Override
        void releaseHeld() {
            release(leases, leases.size());
        }

        @Override
        String describe() {
            return "locks of " + leases.size() + " keys";
        }
    }
}
