package samples.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An HTTP server on a free loopback port that answers one query. It holds all other requests until it sees that their
 * connection is closed, and records that; the JDK's server would check only when it has a response. Each connection
 * serves one request.
 */
public final class SearchServer implements AutoCloseable {
    /** The time limit for events that should have happened already. */
    public static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final String FOUND = "a stick that is passed from hand to hand";

    private static final Pattern REQUEST = Pattern.compile("GET /search\\?q=(\\w+) HTTP/1\\.1");

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
    private final Map<String, Search> searches = new ConcurrentHashMap<>();
    private final ServerSocket socket;
    private final String findable;

    /** The server's record of a query. */
    private static final class Search {
        final CompletableFuture<Void> seen = new CompletableFuture<>();

        /** Completed when the connection is closed, with the outcome. */
        final CompletableFuture<String> end = new CompletableFuture<>();
    }

    /** Starts a server that answers the query {@code findable}. */
    public SearchServer(String findable) {
        this.findable = findable;
        try {
            socket = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        } catch (IOException failure) {
            threads.shutdown();
            throw new UncheckedIOException("cannot start the server", failure);
        }
        threads.execute(this::accept);
    }

    /** The request for {@code query}, which consists of letters. */
    public HttpRequest request(String query) {
        String host = socket.getInetAddress().getHostAddress() + ":" + socket.getLocalPort();
        return HttpRequest.newBuilder(URI.create("http://" + host + "/search?q=" + query))
                // Longer than any wait in the sample: a timeout would also end requests that were not aborted.
                .timeout(PATIENCE.multipliedBy(3))
                .build();
    }

    /** Completes when the request for {@code query} has arrived. */
    public CompletableFuture<Void> seen(String query) {
        return search(query).seen.copy();
    }

    private Search search(String query) {
        return searches.computeIfAbsent(query, unknown -> new Search());
    }

    private void accept() {
        try {
            while (true) {
                Socket connection = socket.accept();
                connections.add(connection);
                threads.execute(() -> serve(connection));
            }
        } catch (IOException | RejectedExecutionException closed) {
            // The server was closed. A connection accepted at the same moment:
            connections.forEach(SearchServer::close);
        }
    }

    private void serve(Socket connection) {
        Search search = new Search();
        String end = "aborted";
        try (connection) {
            var in = new BufferedReader(new InputStreamReader(connection.getInputStream(), StandardCharsets.US_ASCII));
            String query = query(in);
            search = search(query);
            search.seen.complete(null);
            if (query.equals(findable)) {
                connection.getOutputStream().write(answer());
                end = "answered";
            } else if (in.read() >= 0) {
                end = "sent something else";
            }
        } catch (IOException reset) {
            // Another sign that the client has closed the connection.
        }
        connections.remove(connection);
        search.end.complete(end);
    }

    private static String query(BufferedReader in) throws IOException {
        Matcher request = REQUEST.matcher(String.valueOf(in.readLine()));
        if (!request.matches()) throw new IOException("no search");
        for (String header = in.readLine(); header != null && !header.isEmpty(); header = in.readLine()) {
            // Reads to the end of the headers; there is no body.
        }
        return request.group(1);
    }

    private static byte[] answer() {
        String head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + FOUND.length() + "\r\n\r\n";
        return (head + FOUND).getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Prints the outcomes of the queries that typing {@code word} has started, and the result that is shown. Returns
     * whether only the last query was answered, its result is shown, and after {@code patience} no connection is open.
     */
    public boolean report(PrintStream out, String word, String shown, Duration patience) {
        boolean asExpected = shown.equals(FOUND);
        out.println("Typing '" + word + "'");
        for (int letters = 1; letters <= word.length(); letters++) {
            String query = word.substring(0, letters);
            String end = search(query)
                    .end
                    .completeOnTimeout("still open", patience.toMillis(), TimeUnit.MILLISECONDS)
                    .join();
            out.println("  " + query + ": " + end);
            asExpected &= end.equals(letters == word.length() ? "answered" : "aborted");
        }
        out.println("  shown: " + shown);
        out.println();
        return asExpected && connections.isEmpty();
    }

    @Override
    public void close() {
        close(socket);
        connections.forEach(SearchServer::close);
        threads.shutdown();
    }

    private static void close(AutoCloseable socket) {
        try {
            socket.close();
        } catch (Exception alreadyBroken) {
            // The socket is closed in any case.
        }
    }
}
