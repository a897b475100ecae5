package guide.tasks;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import baton.interop.AsyncMutex;
import baton.monitoring.Deadlocks;
import baton.monitoring.Waits;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A service hangs: the dump, over JMX, and the report of its deadlock. In a JVM with {@code -Dbaton.deadlocks=true}. */
@Timeout(120)
class HungServiceDeadlockTest {
    private final AsyncMutex stock = AsyncMutex.create("stock");
    private final AsyncMutex orders = AsyncMutex.create("orders");
    private final CyclicBarrier bothHoldOne = new CyclicBarrier(2);

    private Thread startLocking(String name, AsyncMutex first, AsyncMutex second) {
        Thread thread = new Thread(
                () -> {
                    try {
                        first.blocking().call(() -> {
                            bothHoldOne.await();
                            return second.blocking().call(() -> "never");
                        });
                    } catch (Exception e) {
                        // interrupted at the end of the test
                    }
                },
                name);
        thread.start();
        return thread;
    }

    @Test
    void deadlockOfTwo_isInTheDumpAndNamed() throws Exception {
        assumeTrue(Deadlocks.isEnabled());
        Waits.register(); // at the start of the service: the dump is in JConsole and jmxterm
        List<Thread> threads =
                List.of(startLocking("delivery", stock, orders), startLocking("purchase", orders, stock));
        String report = "";
        while (report.isEmpty()) { // a cycle is found once it has stood for a second
            Thread.onSpinWait();
            report = String.join(
                    "\n", Deadlocks.find().stream().map(Object::toString).toList());
        }
        String dump = (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(new ObjectName("baton:type=Waits"), "dump", null, null);
        for (String name : List.of("Mutex 'stock'", "Mutex 'orders'", "delivery", "purchase")) {
            assertTrue(report.contains(name), report);
            assertTrue(dump.contains(name), dump);
        }
        for (Thread thread : threads) thread.interrupt();
        for (Thread thread : threads) thread.join();
    }
}
