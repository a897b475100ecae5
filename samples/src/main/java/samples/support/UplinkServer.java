package samples.support;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A server that serves five requests at a time, and refuses a sixth. It can hold on to the requests of one JVM. */
final class UplinkServer implements AutoCloseable {
    private static final long SERVICE_MILLIS = 40;
    private static final int OK = 200;
    private static final int TOO_MANY = 429;

    /** From and to are in nanoseconds. */
    record Served(int jvm, long token, long from, long to) {}

    private final HttpServer server = LoopbackServer.create(0);
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "uplink");
        thread.setDaemon(true);
        return thread;
    });

    // Guarded by this.
    private final List<Served> served = new ArrayList<>();
    private int inside;
    private int refused;
    private int held;
    private int heldJvm;
    private CountDownLatch release = new CountDownLatch(0);

    UplinkServer() throws IOException {
        server.createContext("/fetch", this::fetch);
        server.setExecutor(threads);
        server.start();
    }

    URI uri() {
        return URI.create("http:/" + server.getAddress());
    }

    private void fetch(HttpExchange exchange) throws IOException {
        String[] query = exchange.getRequestURI().getQuery().split("[=&]");
        int jvm = Integer.parseInt(query[1]);
        long token = Long.parseLong(query[3]);
        long from = System.nanoTime();
        boolean isServed = enter();
        if (isServed) {
            try {
                awaitRelease(jvm);
                Thread.sleep(SERVICE_MILLIS);
            } catch (InterruptedException ending) {
                Thread.currentThread().interrupt();
            }
            leave(new Served(jvm, token, from, System.nanoTime()));
        }
        exchange.sendResponseHeaders(isServed ? OK : TOO_MANY, -1);
        exchange.close();
    }

    private synchronized boolean enter() {
        if (inside == UplinkJob.PERMITS) {
            refused++;
            return false;
        }
        inside++;
        return true;
    }

    private synchronized void leave(Served request) {
        inside--;
        served.add(request);
        notifyAll();
    }

    private void awaitRelease(int jvm) throws InterruptedException {
        CountDownLatch latch;
        synchronized (this) {
            if (jvm != heldJvm) return;
            latch = release;
            held++;
            notifyAll();
        }
        latch.await();
    }

    /** From now on serves no request of that JVM to its end. Returns when there are so many of them. */
    synchronized void hold(int jvm, int requests) throws InterruptedException {
        heldJvm = jvm;
        held = 0;
        release = new CountDownLatch(1);
        while (held < requests) wait();
    }

    /** Serves those that it holds. */
    synchronized void release() {
        heldJvm = 0;
        release.countDown();
    }

    /** Returns when so many requests have been served. */
    synchronized void awaitServed(int requests) throws InterruptedException {
        while (served.size() < requests) wait();
    }

    synchronized List<Served> served() {
        return List.copyOf(served);
    }

    synchronized int refused() {
        return refused;
    }

    @Override
    public void close() {
        release();
        server.stop(0);
        threads.shutdownNow();
    }
}
