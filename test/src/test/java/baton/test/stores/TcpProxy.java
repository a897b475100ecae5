package baton.test.stores;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A network between a store and its server, which can be stopped, cut, and made to lose answers. */
public final class TcpProxy implements Closeable {
    private static final int BUFFER = 64 * 1024;

    private final InetSocketAddress target;
    private final ServerSocketChannel listener;
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger connections = new AtomicInteger();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private boolean isStalled;
    private boolean isCut;
    /** The bytes of answers that still pass. */
    private long answerBytes = Long.MAX_VALUE;

    public TcpProxy(int targetPort) throws IOException {
        target = new InetSocketAddress(InetAddress.getLoopbackAddress(), targetPort);
        listener = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        start("accept", this::accept);
    }

    public int port() throws IOException {
        return ((InetSocketAddress) listener.getLocalAddress()).getPort();
    }

    /** How many clients have connected, those of a cut network included. */
    public int connections() {
        return connections.get();
    }

    /** All passes again. What was stopped goes on; an answer that was dropped does not come. */
    public void pass() {
        set(false, false, Long.MAX_VALUE);
    }

    /** Nothing passes in either direction, and nothing is lost. Nor does an end learn of it. */
    public void stall() {
        set(true, false, Long.MAX_VALUE);
    }

    /** The connections end, and so does each new one, at once. */
    public void cut() {
        set(false, true, Long.MAX_VALUE);
        endAll();
    }

    /** Requests pass, and of all answers together only that many bytes. */
    public void dropAnswersAfter(long bytes) {
        set(false, false, bytes);
    }

    /** The server seems to have ended all answers, and still reads requests. */
    public void endAnswers() throws IOException {
        for (SocketChannel channel : open) {
            try {
                if (!channel.getRemoteAddress().equals(target)) channel.shutdownOutput();
            } catch (ClosedChannelException e) {
                // Its client has seen the end of another connection, and has closed this one.
            }
        }
    }

    private void set(boolean stalled, boolean cut, long bytes) {
        lock.lock();
        try {
            isStalled = stalled;
            isCut = cut;
            answerBytes = bytes;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits while the network is stalled. Of an answer, only so many bytes pass. */
    private int admit(int bytes, boolean isAnswer) throws InterruptedException {
        lock.lock();
        try {
            while (isStalled) changed.await();
            if (!isAnswer) return bytes;
            int passing = (int) Math.min(bytes, answerBytes);
            if (answerBytes != Long.MAX_VALUE) answerBytes -= passing;
            return passing;
        } finally {
            lock.unlock();
        }
    }

    private boolean isCut() {
        lock.lock();
        try {
            return isCut;
        } finally {
            lock.unlock();
        }
    }

    private void accept() throws IOException {
        while (true) {
            SocketChannel client = listener.accept();
            connections.incrementAndGet();
            if (isCut()) {
                client.close();
                continue;
            }
            SocketChannel server = SocketChannel.open(target);
            open.add(client);
            open.add(server);
            start("requests", () -> pump(client, server, false));
            start("answers", () -> pump(server, client, true));
            if (isCut()) endAll();
        }
    }

    private void pump(SocketChannel from, SocketChannel to, boolean isAnswer) throws IOException, InterruptedException {
        try (from;
                to) {
            var sink = Channels.newOutputStream(to);
            ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
            while (from.read(buffer) >= 0) {
                sink.write(buffer.array(), 0, admit(buffer.position(), isAnswer));
                buffer.clear();
            }
        } finally {
            open.remove(from);
            open.remove(to);
        }
    }

    private interface Work {
        void run() throws IOException, InterruptedException;
    }

    private static void start(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException | InterruptedException e) {
                        // The connection has ended, by this or by one of its ends.
                    }
                },
                "proxy-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    private void endAll() {
        for (SocketChannel channel : open) {
            try {
                channel.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        cut();
    }
}
