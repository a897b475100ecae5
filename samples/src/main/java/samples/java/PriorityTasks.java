package samples.java;

import baton.interop.AsyncTaskScheduler;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import samples.support.ApiServer;
import samples.support.Cli;
import samples.support.Job;
import samples.support.Timesheet;

/**
 * An application refreshes its token and loads a view while less urgent requests are queued: without priorities behind
 * them, with priorities ahead of them. {@code samples.PriorityTasks} is the same in Kotlin.
 */
public final class PriorityTasks {
    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();

    private PriorityTasks() {}

    private static CompletableFuture<Void> get(URI uri) {
        HttpRequest request =
                HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(10)).build();
        return CLIENT.sendAsync(request, BodyHandlers.discarding()).thenCompose(response -> {
            int status = response.statusCode();
            return status == 200
                    ? CompletableFuture.completedFuture(null)
                    : CompletableFuture.failedFuture(new IOException(uri.getPath() + " answered " + status));
        });
    }

    private static void runAll(Timesheet sheet, ApiServer server, int concurrency) {
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(concurrency);
        for (Job job : sheet.jobs()) {
            sheet.due(job).join();
            sheet.scheduled(job);
            scheduler.schedule(job.priority(), () -> {
                sheet.started(job);
                return get(server.uri(job.path())).whenComplete((answer, failure) -> {
                    if (failure == null) {
                        sheet.ended(job);
                    } else {
                        // Queued jobs need not try: they get a SchedulerClosedException.
                        scheduler.closeNow(failure);
                        sheet.failed(job, failure);
                    }
                });
            });
        }
        scheduler.drain().join();
    }

    public static int run(String[] args, PrintStream out, PrintStream err) {
        return Cli.runJobs(args, out, err, PriorityTasks::runAll);
    }

    public static void main(String[] args) {
        Cli.exit(run(args, System.out, System.err));
    }
}
