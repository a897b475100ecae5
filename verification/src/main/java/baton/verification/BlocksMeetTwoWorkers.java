package baton.verification;

import baton.Priority;
import baton.scheduler.PriorityDispatcher;
import baton.scheduler.PriorityDispatchersKt;
import java.util.concurrent.atomic.AtomicInteger;
import kotlin.coroutines.EmptyCoroutineContext;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Two workers look at two levels while their blocks bring others: none is lost, none runs twice. */
@JCStressTest
@Outcome(id = "4, 0", expect = Expect.ACCEPTABLE, desc = "All blocks ran, and no worker is left.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A block was lost or ran twice, or a worker was forgotten.")
@State
public class BlocksMeetTwoWorkers {
    private final BlockMeetsLeavingWorker.Workers workers = new BlockMeetsLeavingWorker.Workers();
    private final PriorityDispatcher dispatcher = PriorityDispatchersKt.prioritized(workers, 2);
    private final AtomicInteger ran = new AtomicInteger();

    public BlocksMeetTwoWorkers() {
        dispatch(Priority.HIGH, () -> dispatch(Priority.LOW, () -> {}));
        dispatch(Priority.LOW, () -> dispatch(Priority.HIGH, () -> {}));
    }

    private void dispatch(Priority level, Runnable then) {
        dispatcher.level(level).dispatch(EmptyCoroutineContext.INSTANCE, () -> {
            ran.incrementAndGet();
            then.run();
        });
    }

    @Actor
    public void first() {
        workers.runAll();
    }

    @Actor
    public void second() {
        workers.runAll();
    }

    @Arbiter
    public void end(II_Result result) {
        workers.runAll();
        result.r1 = ran.get();
        result.r2 = dispatcher.getMetrics().getWorkers();
    }
}
