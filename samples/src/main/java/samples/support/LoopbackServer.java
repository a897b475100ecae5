package samples.support;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Creates the JDK's HTTP servers on the loopback address. */
public final class LoopbackServer {
    static {
        // Without it a small write may wait 40 ms for the acknowledgement of the one before: a body for that of its
        // headers, a response for that of another. The JDK reads the settings once, with the first server of the JVM.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        // Seconds for a request to arrive as a whole; without it a client that does not go on keeps a thread for ever.
        System.setProperty("sun.net.httpserver.maxReqTime", "10");
    }

    private LoopbackServer() {}

    /** Listens on {@code port}, or on a free one if it is 0, with the system's default backlog. */
    public static HttpServer create(int port) throws IOException {
        return create(port, 0);
    }

    /** The same, with room for {@code backlog} connections that are not accepted yet. */
    public static HttpServer create(int port, int backlog) throws IOException {
        return HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), backlog);
    }
}
