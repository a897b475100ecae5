package guide.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executor;

/** Runs the steps on the thread that calls run, in an order that depends on the seed alone. */
final class ShuffledSteps implements Executor {
    private final List<Runnable> ready = new ArrayList<>();
    private final Random random;

    ShuffledSteps(long seed) {
        random = new Random(seed);
    }

    @Override
    public void execute(Runnable step) {
        ready.add(step);
    }

    void run() {
        while (!ready.isEmpty()) ready.remove(random.nextInt(ready.size())).run();
    }
}
