package samples.java;

import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncMonitor;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSchedule;
import baton.interop.AsyncScheduleBuilder;
import baton.interop.CancellableFuture;
import baton.interop.Triggers;
import baton.micrometer.BatonMetrics;
import baton.resilience.BreakerState;
import baton.resilience.CircuitOpenException;
import baton.scheduler.Due;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import samples.support.Cli;
import samples.support.CtrlC;
import samples.support.RefusedException;
import samples.support.uptime.DemoServer;
import samples.support.uptime.Endpoint;
import samples.support.uptime.EndpointsFile;
import samples.support.uptime.MonitorCli;
import samples.support.uptime.MonitorOptions;
import samples.support.uptime.MonitorPage;
import samples.support.uptime.MonitorReport;

/**
 * Checks five hundred endpoints, each at its own interval: a schedule in memory that hardly touches its journal, two
 * hundred checks at once at most, the urgent ones first, a retry, a breaker for each host, and a page that shows it all.
 */
public final class UptimeMonitor {
    private static final Duration TICK = Duration.ofSeconds(1);
    private static final Duration LOOK = Duration.ofMillis(500);

    private final MonitorOptions options;
    private final EndpointsFile file;
    private final DemoServer server;
    private final MonitorReport report;
    private final MonitorPage page;
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NORMAL)
            .build();
    private final AsyncRetry retry;
    private final AsyncMonitor monitor;
    private final HostBreakers breakers;
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    /** Complete when the entries of an earlier run are counted; their checks may begin before. */
    private final CompletableFuture<AsyncSchedule<String>> started = new CompletableFuture<>();

    private UptimeMonitor(
            MonitorOptions options, EndpointsFile file, DemoServer server, MonitorReport report, MonitorPage page) {
        this.options = options;
        this.file = file;
        this.server = server;
        this.report = report;
        this.page = page;
        // The limit of the checks, their longest wait, and each breaker.
        monitor = AsyncMonitor.start(LOOK, AsyncMonitor.rules(), report::alert);
        if (options.hasMetrics()) new BatonMetrics(monitor.kotlin()).bindTo(registry);
        breakers = new HostBreakers(options, monitor);
        retry = AsyncRetry.builder()
                .maxAttempts(2)
                .constant(Duration.ofMillis(200))
                .jitter(0.5)
                // After a timeout a second attempt would hold its place for as long again.
                .retryIf(failure -> RefusedException.isTemporary(failure) && !(failure instanceof HttpTimeoutException))
                .onRetry(next -> report.retried())
                .build();
    }

    private CompletableFuture<Void> send(Endpoint endpoint) {
        HttpRequest request = HttpRequest.newBuilder(server.address(endpoint.url()))
                .method(endpoint.isGet() ? "GET" : "HEAD", BodyPublishers.noBody())
                .timeout(options.timeout())
                .build();
        long begin = System.nanoTime();
        return client.sendAsync(request, BodyHandlers.discarding()).thenCompose(response -> {
            report.answered(endpoint, Duration.ofNanos(System.nanoTime() - begin));
            return RefusedException.bodyOf(response);
        });
    }

    /** The action of the schedule. */
    private CompletableFuture<?> check(Due<String> due) {
        String name = due.getKey();
        Endpoint endpoint = report.endpoint(name);
        // The entry is from the state of an earlier run, or was removed just now.
        if (endpoint == null) return started.thenAccept(schedule -> schedule.remove(name));
        AsyncCircuitBreaker breaker = breakers.of(endpoint.url().getHost());
        report.checkBegins(due.lag());
        // Cancellable, so that the end of the schedule aborts the request.
        return CancellableFuture.of(retry.call(() -> breaker.protect(() -> send(endpoint))))
                .handle((answer, failure) -> {
                    // While a breaker probes, its refusals do not show whether the host is up.
                    boolean isProbing = failure instanceof CircuitOpenException && breaker.state() != BreakerState.OPEN;
                    if (isProbing) report.checkEnds(failure);
                    else if (report.checkEnds(endpoint, failure)) started.thenAccept(s -> s.triggerNow(name));
                    return null;
                });
    }

    private void apply(MonitorReport.Edit edit, AsyncSchedule<String> schedule) {
        for (Endpoint endpoint : edit.put()) {
            Duration interval = options.shortened(endpoint.interval());
            schedule.put(endpoint.name(), Triggers.every(interval), endpoint.priority());
        }
        edit.removed().forEach(schedule::remove);
    }

    private void readEdited(AsyncSchedule<String> schedule) {
        List<Endpoint> endpoints = file.readEdited(report::warn);
        if (endpoints.isEmpty()) return; // an editor is writing it, or the user sees the message
        MonitorReport.Edit edit = report.edit(endpoints);
        apply(edit, schedule);
        report.say(file + " was edited: " + edit.put().size() + " new or changed, "
                + edit.removed().size() + " removed");
    }

    private AsyncSchedule<String> start() {
        AsyncScheduleBuilder<String> builder = AsyncSchedule.<String>builder(this::check)
                .maxConcurrency(options.concurrency())
                .grace(Duration.ofSeconds(2))
                .onFailure(report::scheduleFailed)
                .name("checks");
        if (options.state() != null) builder.store(options.state().open());
        return builder.start();
    }

    /** Waits until the entries of earlier runs are loaded. */
    private void load(AsyncSchedule<String> schedule) {
        schedule.resync().exceptionallyCompose(failure -> schedule.shutdown()).join();
        report.say("found " + schedule.size() + " endpoints in its state " + options.state());
    }

    /** Watches until the time is over or Ctrl-C is pressed. */
    private void watch(AsyncSchedule<String> schedule, CtrlC ctrlC) {
        long end = System.nanoTime() + options.length().toNanos();
        for (long left = options.length().toNanos(); left > 0; left = end - System.nanoTime()) {
            if (ctrlC.await(Duration.ofNanos(Math.min(left, TICK.toNanos())))) return;
            if (file.isEdited()) readEdited(schedule);
            report.show(schedule.metrics());
        }
    }

    /** Returns the exit code. */
    private int run() {
        try (monitor) {
            return watch();
        }
    }

    private int watch() {
        List<Endpoint> endpoints = file.read(report::warn);
        if (endpoints.isEmpty()) return 1;
        MonitorReport.Edit all = report.edit(endpoints);
        try (CtrlC ctrlC = new CtrlC();
                AsyncSchedule<String> schedule = start()) {
            monitor.watch("checks", schedule);
            if (options.state() != null) load(schedule);
            started.complete(schedule);
            apply(all, schedule);
            schedule.flush().join(); // otherwise written within five seconds, as later edits are
            report.say("watching " + endpoints.size() + " endpoints of " + file);
            if (page != null) page.serve(schedule, options.hasMetrics() ? registry::scrape : null);
            watch(schedule, ctrlC);
            if (options.hasMetrics()) report.say(registry.scrape());
            schedule.shutdown().join(); // writes the changes that are not in the state yet
            return report.sumUp(schedule.metrics(), server) ? 0 : 1;
        } catch (CompletionException failure) {
            report.stateFailed(failure);
            return 1;
        }
    }

    /** Returns the exit code: 0 if the changes found are those that the demo server made. */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        return MonitorCli.run(
                args,
                out,
                err,
                (options, file, server, report, page) -> new UptimeMonitor(options, file, server, report, page).run());
    }

    public static void main(String[] args) {
        Cli.exit(run(args, System.out, System.err));
    }
}
