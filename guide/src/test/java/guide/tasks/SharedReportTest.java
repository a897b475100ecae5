package guide.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncSingleFlight;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many requests for one report share one computation, which stops when the last of them is cancelled. */
@Tag("any-jdk")
class SharedReportTest {
    private final List<CompletableFuture<String>> computations = new ArrayList<>();
    private final AsyncSingleFlight<String, String> reports = AsyncSingleFlight.create("reports");

    private CompletableFuture<String> compute() {
        CompletableFuture<String> computation = new CompletableFuture<>();
        computations.add(computation);
        return computation;
    }

    private List<CompletableFuture<String>> hundredRequests() {
        return Stream.generate(() -> reports.run("sales", this::compute))
                .limit(100)
                .toList();
    }

    @Test
    void report_isComputedOnce_alsoIfOneRequestIsCancelled() {
        List<CompletableFuture<String>> requests = hundredRequests();
        requests.get(0).cancel(true);
        assertFalse(computations.get(0).isDone());
        computations.get(0).complete("12 %");
        for (CompletableFuture<String> request : requests.subList(1, 100)) assertEquals("12 %", request.join());
        assertEquals(1, computations.size());
    }

    @Test
    void computation_whoseRequestsAreAllCancelled_stops() {
        hundredRequests().forEach(request -> request.cancel(true));
        assertTrue(computations.get(0).isCancelled());
        assertEquals(0, reports.size());
        CompletableFuture<String> next = reports.run("sales", this::compute);
        computations.get(1).complete("13 %");
        assertEquals("13 %", next.join());
    }

    @Test
    void load_thatFailed_isTriedAgainByTheNextRequest() {
        CompletableFuture<String> failed = reports.run("sales", this::compute);
        computations.get(0).completeExceptionally(new IllegalStateException("no connection"));
        assertTrue(failed.isCompletedExceptionally());
        reports.run("sales", this::compute);
        assertEquals(2, computations.size());
    }
}
