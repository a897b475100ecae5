package samples.support.uptime;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Supplier;

/**
 * Server-sent events for any number of readers, up to a bound. A reader has a queue of so many events; one that does not
 * read is dropped when its queue is full. All methods may be called from any thread.
 */
final class EventStream implements AutoCloseable {
    static final int MAX_READERS = 32;

    /** At two events a second, so many seconds are twice as many events. */
    private static final int QUEUE = 20;

    private final Set<Reader> readers = new HashSet<>();
    private boolean isClosed;

    /** The thread is that which writes. An interrupt closes the channel to which it writes, so it never hangs. */
    private record Reader(Thread thread, BlockingQueue<String> queue) {}

    /** Sends an event to all readers. {@code json} is one line. */
    synchronized void publish(String event, String json) {
        String text = text(event, json);
        readers.removeIf(reader -> {
            boolean isFull = !reader.queue.offer(text);
            if (isFull) reader.thread.interrupt();
            return isFull;
        });
    }

    private static String text(String event, String json) {
        return "event: " + event + "\ndata: " + json + "\n\n";
    }

    /**
     * Writes events until the reader goes or is dropped: the first one, and then those that are published. Returns
     * false if there are too many readers. The caller's thread is free of interrupts afterwards.
     *
     * @param first is called with this object locked, so that no event comes between
     */
    boolean write(OutputStream out, String event, Supplier<String> first) throws IOException {
        Reader reader = new Reader(Thread.currentThread(), new ArrayBlockingQueue<>(QUEUE));
        synchronized (this) {
            if (isClosed || readers.size() == MAX_READERS) return false;
            reader.queue.add(text(event, first.get()));
            readers.add(reader);
        }
        try {
            while (true) {
                out.write(reader.queue.take().getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        } catch (InterruptedException dropped) {
            return true;
        } finally {
            synchronized (this) {
                readers.remove(reader);
            }
            // It is not interrupted any more, and has other requests to answer.
            boolean unused = Thread.interrupted();
        }
    }

    synchronized int readers() {
        return readers.size();
    }

    /** Drops all readers. */
    @Override
    public synchronized void close() {
        isClosed = true;
        readers.forEach(reader -> reader.thread.interrupt());
    }
}
