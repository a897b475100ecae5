package samples.support.uptime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * A host on a free loopback port that accepts requests and never responds. It closes a connection when the client has
 * closed it. An HTTP server of the JDK would keep the connection, because it does not read one with an open request.
 */
final class HangingHost implements AutoCloseable {
    private final Selector selector;
    private final ServerSocketChannel server;
    private volatile boolean isOpen = true;

    /** Only its thread uses it. */
    private final ByteBuffer ignored = ByteBuffer.allocate(4096);

    HangingHost(int backlog) throws IOException {
        selector = Selector.open();
        server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), backlog);
        server.configureBlocking(false);
        server.register(selector, SelectionKey.OP_ACCEPT);
        Thread thread = new Thread(this::serve, "hanging host");
        thread.setDaemon(true);
        thread.start();
    }

    int port() {
        return server.socket().getLocalPort();
    }

    private void serve() {
        try {
            while (isOpen) selector.select(this::handle);
            selector.keys().forEach(HangingHost::close);
            selector.close();
        } catch (IOException failure) {
            throw new UncheckedIOException("the hanging host has ended", failure);
        }
    }

    private void handle(SelectionKey key) {
        try {
            if (key.isAcceptable()) {
                SocketChannel client = server.accept();
                if (client == null) return;
                client.configureBlocking(false);
                client.register(selector, SelectionKey.OP_READ);
            } else {
                ignored.clear();
                if (((SocketChannel) key.channel()).read(ignored) < 0) close(key);
            }
        } catch (IOException gone) {
            // That of a client; the server's own stays, and takes the next one.
            if (key.channel() != server) close(key);
        }
    }

    /** Its thread closes all connections. */
    @Override
    public void close() {
        isOpen = false;
        selector.wakeup();
    }

    private static void close(SelectionKey key) {
        try {
            key.channel().close();
        } catch (IOException closed) {
            // It is gone in any case.
        }
    }
}
