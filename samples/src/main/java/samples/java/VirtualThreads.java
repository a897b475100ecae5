package samples.java;

import baton.interop.AsyncSemaphore;
import baton.interop.BlockingSemaphore;
import baton.interop.Permit;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import samples.support.ApiServer;
import samples.support.Cli;
import samples.support.VirtualThreadExecutor;

/**
 * Ten thousand virtual threads call a server that allows 50 requests at a time. They block on a semaphore. Some are
 * interrupted while they wait, some give up; at the end all permits are there. It needs JDK 21 or newer.
 */
public final class VirtualThreads {
    private static final int CALLERS = 10_000;
    private static final int LIMIT = 50;
    private static final Duration PATIENCE = Duration.ofMillis(300);
    private static final Duration GREAT_PATIENCE = Duration.ofMinutes(5);

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(LIMIT);
    private final BlockingSemaphore blocking = semaphore.blocking();
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger interrupted = new AtomicInteger();
    private final AtomicInteger gaveUp = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();

    private VirtualThreads() {}

    /** Sends one request, as each virtual thread does. */
    private void call(HttpRequest request, Duration patience) {
        try {
            int status = blocking.call(
                    patience,
                    () -> client.send(request, BodyHandlers.discarding()).statusCode());
            (status == 200 ? accepted : refused).incrementAndGet();
        } catch (InterruptedException e) {
            interrupted.incrementAndGet();
        } catch (TimeoutException e) {
            gaveUp.incrementAndGet();
        } catch (Exception e) {
            failed.incrementAndGet();
        }
    }

    private boolean run(ExecutorService threads, PrintStream out) throws IOException, InterruptedException {
        int peak;
        try (ApiServer server = ApiServer.start(LIMIT, Integer.MAX_VALUE, path -> 5)) {
            Permit all = blocking.acquire(LIMIT);
            List<Future<?>> toInterrupt = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                HttpRequest request =
                        HttpRequest.newBuilder(server.uri("/" + i)).build();
                Duration patience = i % 10 == 0 ? PATIENCE : GREAT_PATIENCE;
                Future<?> future = threads.submit(() -> call(request, patience));
                if (i % 10 == 1) toInterrupt.add(future);
            }
            await(() -> semaphore.waiting() + gaveUp.get() == CALLERS);
            for (Future<?> future : toInterrupt) future.cancel(true);
            await(() -> interrupted.get() + gaveUp.get() == CALLERS / 5);
            all.close();
            threads.shutdown();
            if (!threads.awaitTermination(2, TimeUnit.MINUTES)) throw new IOException("the calls do not end");
            peak = server.peak();
        }
        out.println("10,000 virtual threads, 50 requests at a time");
        out.println("  interrupted while they waited: " + interrupted);
        out.println("  gave up after " + PATIENCE.toMillis() + " ms: " + gaveUp);
        out.println("  answered: " + accepted + ", refused with 429: " + refused + ", failed: " + failed);
        out.println("  requests at a time: " + (peak <= LIMIT ? "never more than " + LIMIT : "up to " + peak));
        out.println("  permits at the end: " + semaphore.availablePermits() + ", waiting: " + semaphore.waiting());
        return failed.get() + refused.get() == 0 && semaphore.availablePermits() == LIMIT;
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) Thread.sleep(1);
    }

    public static int run(String[] args, PrintStream out, PrintStream err) {
        return Cli.runWithoutOptions(args, err, () -> {
            Optional<ExecutorService> threads = VirtualThreadExecutor.open();
            if (threads.isEmpty()) {
                out.println("virtual threads need JDK 21 or newer, this is JDK "
                        + Runtime.version().feature());
                return true;
            }
            try {
                return new VirtualThreads().run(threads.get(), out);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot run", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        });
    }

    public static void main(String[] args) {
        Cli.exit(run(args, System.out, System.err));
    }
}
