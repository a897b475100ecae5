package guide.limits;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import baton.interop.AsyncSingleFlight;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** The lazy value of docs/limits-and-keys.md in Java. */
class SettingsTest {
    private final List<CompletableFuture<Integer>> loads = new ArrayList<>();
    private final Settings settings = new Settings();

    private CompletableFuture<Integer> loadPort() {
        CompletableFuture<Integer> load = new CompletableFuture<>();
        loads.add(load);
        return load;
    }

    final class Settings {
        private final AsyncSingleFlight<String, Integer> flight = AsyncSingleFlight.create();
        private volatile Integer port; // null until a load has succeeded

        CompletableFuture<Integer> port() {
            Integer loaded = port;
            return loaded != null ? completedFuture(loaded) : flight.run("port", this::load);
        }

        private CompletableFuture<Integer> load() { // the run before this one may have ended a moment ago
            return port != null ? completedFuture(port) : loadPort().thenApply(read -> port = read);
        }
    }

    @Test
    void port_isLoadedOnce_againAfterAFailure_andACallerLeavesAlone() {
        CompletableFuture<Integer> failing = settings.port();
        loads.get(0).completeExceptionally(new IOException("down"));
        assertThrows(CompletionException.class, failing::join);
        CompletableFuture<Integer> left = settings.port();
        CompletableFuture<Integer> stays = settings.port();
        left.cancel(false);
        assertFalse(stays.isDone());
        loads.get(1).complete(8080);
        assertEquals(List.of(8080, 8080), List.of(stays.join(), settings.port().join()));
        assertEquals(2, loads.size());
    }
}
