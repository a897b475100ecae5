package samples.java;

import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncPipeline;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncRetry;
import baton.interop.Tasks;
import baton.resilience.CircuitOpenException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import samples.support.ImportOptions;
import samples.support.ImportRecord;
import samples.support.QuotaLimits;
import samples.support.QuotaReport;
import samples.support.RefusedException;

/**
 * The second part of {@link BatchImport}: the server accepts 200 calls a second, and is out for two seconds. With
 * retries alone every record arrives, but many calls are refused. With a limiter none is above the quota, and with a
 * breaker few go into the outage. {@code samples.QuotaImport} is the same in Kotlin.
 */
final class QuotaImport {
    private final ImportOptions options;
    private final QuotaReport report;
    private final Function<ImportRecord, CompletableFuture<String>> send;
    private final AsyncRetry retry;

    QuotaImport(ImportOptions options, QuotaReport report, Function<ImportRecord, CompletableFuture<String>> send) {
        this.options = options;
        this.report = report;
        this.send = send;
        retry = AsyncRetry.builder()
                .maxAttempts(options.attempts())
                .exponential(Duration.ofMillis(100), Duration.ofSeconds(1))
                .equalJitter()
                // A call that an open breaker refuses waits until it may be let in, or for the back-off if that is
                // longer.
                .retryIf(failure -> RefusedException.isTemporary(failure) || failure instanceof CircuitOpenException)
                .onRetry(report::retried)
                .build();
    }

    void retryOnly() {
        importAll(record -> retry.call(() -> send.apply(record)));
    }

    void withLimiterAndBreaker() {
        AsyncRateLimiter limiter = AsyncRateLimiter.builder(QuotaLimits.RATE, Duration.ofSeconds(1))
                .burst(QuotaLimits.BURST)
                .build();
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.builder()
                .window(QuotaLimits.WINDOW)
                .failureRate((double) QuotaLimits.FAILURES / QuotaLimits.WINDOW)
                .openFor(Duration.ofMillis(500))
                .probes(QuotaLimits.PROBES, Duration.ofSeconds(30))
                .build();
        breaker.onChange(report::changed);
        // The retry is outside: each attempt counts. The limiter is inside: a refused call takes no permit.
        AsyncPipeline upstream = AsyncPipeline.builder("import")
                .retry(retry)
                .breaker(breaker)
                .limiter(limiter)
                .build();
        importAll(record -> upstream.call(() -> send.apply(record)));
    }

    /** A record that waits for its retry keeps its place among those under way. */
    private void importAll(Function<ImportRecord, CompletableFuture<String>> deliver) {
        Iterable<ImportRecord> records = ImportRecord.read(options.quotaRecords())::iterator;
        Tasks.forEachLimit(
                        records,
                        QuotaLimits.UNDER_WAY,
                        record -> deliver.apply(record).handle((answer, failure) -> {
                            if (failure == null) report.answered();
                            else report.failed(failure);
                            return null;
                        }))
                .join();
    }
}
