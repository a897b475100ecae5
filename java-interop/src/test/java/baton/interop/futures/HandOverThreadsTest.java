package baton.interop.futures;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncChannel;
import baton.interop.AsyncMutex;
import baton.interop.Permit;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Callbacks that are nested too deeply continue on another thread, even if the common pool is unavailable. */
class HandOverThreadsTest {
    private static final int MANY = 30;

    /** {@link #MANY} holders of a mutex in a row; the callback of each admits the next. Returns how many held it. */
    private static int holders() throws InterruptedException {
        AsyncMutex mutex = AsyncMutex.create();
        CountDownLatch held = new CountDownLatch(MANY);
        Permit first = mutex.lock().join();
        for (int i = 0; i < MANY; i++) {
            var unused = mutex.lock().thenAccept(permit -> {
                held.countDown();
                permit.close();
            });
        }
        first.close();
        var unused = held.await(120, SECONDS);
        return MANY - (int) held.getCount();
    }

    @Test
    void handOvers_whileTheCommonPoolIsBlocked_reachAll() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        for (int i = 0; i < ForkJoinPool.getCommonPoolParallelism(); i++) {
            ForkJoinPool.commonPool().execute(() -> awaitQuietly(end));
        }
        try {
            assertEquals(MANY, holders());
        } finally {
            end.countDown();
        }
    }

    @Test
    void handOvers_whileEveryCallbackBlocksForAllToBegin_reachAll() throws Exception {
        AsyncMutex mutex = AsyncMutex.create();
        CountDownLatch begun = new CountDownLatch(MANY);
        List<CompletableFuture<Boolean>> callbacks = new ArrayList<>();
        Permit first = mutex.lock().join();
        for (int i = 0; i < MANY; i++) {
            callbacks.add(mutex.lock().thenApply(permit -> {
                begun.countDown();
                permit.close();
                return awaitQuietly(begun);
            }));
        }
        first.close();
        for (CompletableFuture<Boolean> callback : callbacks) assertTrue(callback.get(120, SECONDS));
    }

    private static boolean awaitQuietly(CountDownLatch latch) {
        try {
            return latch.await(120, SECONDS);
        } catch (InterruptedException e) {
            return false;
        }
    }

    @Test
    void handOvers_inAJvmWhoseCommonPoolHasNoThread_reachAll() throws Exception {
        String java = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
        Process child = new ProcessBuilder(
                        java,
                        "-Djava.util.concurrent.ForkJoinPool.common.parallelism=0",
                        "-cp",
                        System.getProperty("java.class.path"),
                        InAnotherJvm.class.getName())
                .redirectErrorStream(true)
                .start();
        String output = new String(child.getInputStream().readAllBytes());
        assertTrue(child.waitFor(120, SECONDS));
        assertTrue(output.contains("holders = 30, elements = 300"), output);
    }

    /** The test above runs this program. */
    static final class InAnotherJvm {
        private InAnotherJvm() {}

        public static void main(String[] args) throws Exception {
            AsyncChannel<Integer> channel = AsyncChannel.create(300);
            for (int i = 0; i < 300; i++) assertTrue(channel.trySend(i));
            channel.close();
            AtomicInteger elements = new AtomicInteger();
            channel.forEach(element -> elements.incrementAndGet()).get(120, SECONDS);
            System.out.println("holders = " + holders() + ", elements = " + elements);
        }
    }
}
