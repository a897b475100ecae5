package baton.benchmarks;

import kotlin.coroutines.Continuation;
import kotlin.coroutines.CoroutineContext;
import kotlin.coroutines.intrinsics.IntrinsicsKt;
import kotlinx.coroutines.Dispatchers;
import kotlinx.coroutines.JobKt;

/**
 * Calls suspend functions as the compiler does, with an explicit continuation. So a call that does not suspend is
 * measured without the cost of a coroutine around it, and the benchmark sees whether a call has suspended.
 */
final class Calls {
    private static final Object SUSPENDED = IntrinsicsKt.getCOROUTINE_SUSPENDED();
    private static final Continuation<Object> NOWHERE = new Nowhere();

    private Calls() {}

    /** Acquires a free permit. */
    static void acquireFree(Gate gate) {
        if (gate.acquire(NOWHERE) == SUSPENDED) {
            throw new IllegalStateException("suspended without contention");
        }
    }

    /** Acquires a free permit by a call with a timeout. */
    static void acquireFreeInTime(Gate gate) {
        Object result = gate.acquireInTime(NOWHERE);
        if (result == SUSPENDED || result == null || result == Boolean.FALSE) {
            throw new IllegalStateException("not acquired without contention: " + result);
        }
    }

    /** Acquires, and records whether the call did not wait. */
    static Object acquire(Gate gate, Continuation<Object> caller, Tally tally) {
        Object result = gate.acquire(caller);
        if (result != SUSPENDED) {
            tally.setAtOnce(tally.getAtOnce() + 1);
        }
        return result;
    }

    /** The continuation of a coroutine that is never resumed. */
    private static final class Nowhere implements Continuation<Object> {
        private final CoroutineContext context = Dispatchers.getDefault().plus(JobKt.Job(null));

        @Override
        public CoroutineContext getContext() {
            return context;
        }

        @Override
        public void resumeWith(Object result) {
            throw new IllegalStateException("resumed with " + result + ", though it was not suspended");
        }
    }
}
