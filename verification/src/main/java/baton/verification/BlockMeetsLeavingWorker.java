package baton.verification;

import baton.scheduler.PriorityDispatcher;
import baton.scheduler.PriorityDispatchersKt;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import kotlin.coroutines.CoroutineContext;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlinx.coroutines.CoroutineDispatcher;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A block is dispatched while the last worker finds nothing to do: a worker runs it, once. */
@JCStressTest
@Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "Both blocks ran, and no worker is left.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A block was lost or ran twice, or a worker was forgotten.")
@State
public class BlockMeetsLeavingWorker {
    private final Workers workers = new Workers();
    private final PriorityDispatcher dispatcher = PriorityDispatchersKt.prioritized(workers, 1);
    private int ran;

    public BlockMeetsLeavingWorker() {
        dispatch();
    }

    private void dispatch() {
        // One worker: the blocks never run at the same time, and each sees what the one before has done.
        dispatcher.dispatch(EmptyCoroutineContext.INSTANCE, () -> ran++);
    }

    @Actor
    public void worker() {
        workers.runAll();
    }

    @Actor
    public void caller() {
        dispatch();
    }

    @Arbiter
    public void end(II_Result result) {
        workers.runAll();
        result.r1 = ran;
        result.r2 = dispatcher.getMetrics().getWorkers();
    }

    /** A dispatcher that runs its work when the test calls {@link #runAll}. */
    static final class Workers extends CoroutineDispatcher {
        private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

        @Override
        public void dispatch(CoroutineContext context, Runnable worker) {
            waiting.add(worker);
        }

        void runAll() {
            for (Runnable worker = waiting.poll(); worker != null; worker = waiting.poll()) worker.run();
        }
    }
}
