package consumer;

import baton.Priority;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncSharedRegion;
import baton.interop.AsyncTaskScheduler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/** Calls the Java API, with each Kotlin module behind it. */
public final class JavaConsumer {
    private JavaConsumer() {}

    public static void main(String[] args) throws Exception {
        AsyncSemaphore semaphore = AsyncSemaphore.create(2);
        int free = semaphore
                .withPermit(() -> CompletableFuture.completedFuture(semaphore.availablePermits()))
                .get();
        check(free == 1);
        check(semaphore.blocking().call(() -> "value").equals("value"));

        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(1);
        check(scheduler.blocking().call(Priority.HIGH, () -> 42) == 42);

        Path file = Files.createTempDirectory("consumer").resolve("locks");
        try (AsyncSharedRegion region = AsyncSharedRegion.open(file)) {
            region.mutex("m").lockBlocking().close();
        }
        System.out.println("Java, " + AsyncSemaphore.class.getModule() + ": ok");
        System.exit(0);
    }

    private static void check(boolean isTrue) {
        if (!isTrue) throw new AssertionError();
    }
}
