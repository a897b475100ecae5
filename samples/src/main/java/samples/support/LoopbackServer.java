package samples.support;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Creates the JDK's HTTP servers, for this machine alone. */
public final class LoopbackServer {
    static {
        // Otherwise the second half of a response, its body, may wait 40 ms for the acknowledgement of the first. The
        // JDK
        // reads this once, when the first server of the JVM is created.
        System.setProperty("sun.net.httpserver.nodelay", "true");
    }

    private LoopbackServer() {}

    /** On {@code port}, or a free one if it is 0, with the system's default of connections that may wait. */
    public static HttpServer create(int port) throws IOException {
        return create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    }

    /** At {@code address}, with room for {@code backlog} connections that are not accepted yet. */
    public static HttpServer create(InetSocketAddress address, int backlog) throws IOException {
        return HttpServer.create(address, backlog);
    }
}
