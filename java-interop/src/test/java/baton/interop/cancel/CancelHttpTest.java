package baton.interop.cancel;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.CancellableFuture;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A chain that waits for an HTTP server which never responds. */
class CancelHttpTest {
    private final CompletableFuture<String> asked = new CompletableFuture<>();
    private final CompletableFuture<Integer> afterwards = new CompletableFuture<>();

    private void serve(ServerSocket server) {
        try (Socket socket = server.accept()) {
            InputStream in = socket.getInputStream();
            StringBuilder request = new StringBuilder();
            while (request.indexOf("\r\n\r\n") < 0) request.append((char) in.read());
            asked.complete(request.substring(0, request.indexOf("\r")));
            afterwards.complete(in.read());
        } catch (IOException e) { // a reset counts as closed
            afterwards.complete(-1);
        }
    }

    static Stream<Function<CompletableFuture<HttpResponse<String>>, CancellableFuture<Integer>>> chains() {
        return Stream.of(
                sent -> CancellableFuture.of(sent).thenApply(HttpResponse::body).thenApply(String::length),
                sent -> CancellableFuture.of(CompletableFuture.completedFuture(1))
                        .thenCompose(x -> sent)
                        .thenApply(HttpResponse::statusCode));
    }

    @ParameterizedTest
    @MethodSource("chains")
    void cancel_atTheEndOfAChain_closesTheConnectionToAServerThatHasNotAnswered(
            Function<CompletableFuture<HttpResponse<String>>, CancellableFuture<Integer>> chain) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread thread = new Thread(() -> serve(server));
            thread.setDaemon(true);
            thread.start();
            HttpClient client =
                    HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
            URI uri = URI.create("http://" + server.getInetAddress().getHostAddress() + ":" + server.getLocalPort());
            HttpRequest request = HttpRequest.newBuilder(uri).build();
            CancellableFuture<Integer> end = chain.apply(client.sendAsync(request, BodyHandlers.ofString()));
            assertEquals("GET / HTTP/1.1", await(asked));
            assertTrue(end.cancel(true));
            assertEquals(-1, await(afterwards));
            await(end.terminated());
            thread.join();
        }
    }
}
