package baton.benchmarks;

import kotlin.coroutines.Continuation;
import kotlin.coroutines.CoroutineContext;
import kotlin.coroutines.intrinsics.IntrinsicsKt;
import kotlinx.coroutines.Dispatchers;
import kotlinx.coroutines.JobKt;

/**
 * Calls suspend functions as the compiler does, with the continuation in sight. So a call that does not suspend is
 * measured without the cost of a coroutine around it, and one that should suspend can be told from one that did not.
 */
final class Calls {
    private static final Object SUSPENDED = IntrinsicsKt.getCOROUTINE_SUSPENDED();
    private static final Continuation<Object> NOWHERE = new Nowhere();

    private Calls() {}

    /** Acquires what is free. */
    static void acquireFree(Gate gate) {
        if (gate.acquire(NOWHERE) == SUSPENDED) {
            throw new IllegalStateException("suspended, though nobody else was there");
        }
    }

    /** Acquires what is free, though it might wait for a limited time. */
    static void acquireFreeInTime(Gate gate) {
        Object result = gate.acquireInTime(NOWHERE);
        if (result == SUSPENDED || result == null || result == Boolean.FALSE) {
            throw new IllegalStateException("not acquired, though nobody else was there: " + result);
        }
    }

    /** Acquires, and notes whether that needed no waiting. */
    static Object acquire(Gate gate, Continuation<Object> caller, Tally tally) {
        Object result = gate.acquire(caller);
        if (result != SUSPENDED) {
            tally.setAtOnce(tally.getAtOnce() + 1);
        }
        return result;
    }

    /** The caller in a coroutine that nobody will ever resume. */
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
