package samples.support;

import baton.distributed.CoordinationStore;
import baton.distributed.JdbcStore;
import baton.distributed.redis.RedisStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import samples.support.uptime.UrlDataSource;

/** The job of a worker process that fetches through the uplink. It tells its parent of losses by lines on its output. */
public final class UplinkJob {
    /** Of all processes together. */
    public static final int PERMITS = 5;

    /** Of each process. */
    public static final int CALLERS = 3;

    /** A JVM that is silent for so long loses its permits. */
    public static final long LEASE_MILLIS = 2_000;

    static final String READY = "ready";
    static final String LOST = "lost ";
    static final String REPORTED = "reported ";
    static final String DONE = "done";
    private static final String FLAG = "--uplink-worker";
    static final String H2_FILE = "h2-file:";
    static final String REDIS = "redis://";

    private final int jvm;
    private final URI server;
    private final String store;
    private final BufferedReader parent;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private UplinkJob(String[] args, BufferedReader parent) throws IOException {
        jvm = Integer.parseInt(args[1]);
        server = URI.create(args[2]);
        this.parent = parent;
        store = parent.readLine();
        if (store == null) throw new IOException("the parent has ended");
    }

    /** The code that differs between the languages. */
    @FunctionalInterface
    public interface Worker {
        void run(UplinkJob job) throws Exception;
    }

    /** Whether these are the arguments of a worker process. */
    public static boolean isIn(String[] args) {
        return args.length > 0 && args[0].equals(FLAG);
    }

    /** The store is sent by the input, because other users see arguments and it may have a password. */
    static List<String> toArgs(int jvm, URI server) {
        return List.of(FLAG, "" + jvm, "" + server);
    }

    /** Runs the job in {@code args} in this process, which ends when its parent has. */
    public static void run(String[] args, Worker worker) {
        // On a busy machine the store may be late: the cluster reports that, and goes on.
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> System.out.println(REPORTED + failure));
        try {
            UplinkJob job =
                    new UplinkJob(args, new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)));
            worker.run(job);
            System.out.println(DONE);
        } catch (Exception failure) {
            System.out.println(failure);
        }
        System.exit(0);
    }

    public String name() {
        return "JVM " + jvm;
    }

    /** The store of the permits. */
    public CoordinationStore openStore() {
        return open(store);
    }

    static CoordinationStore open(String store) {
        // Redis' client brings the API of a log, which would print that there is no log.
        System.setProperty("slf4j.internal.verbosity", "ERROR");
        if (store.startsWith(H2_FILE)) {
            return JdbcStore.h2(Path.of(store.substring(H2_FILE.length())));
        }
        if (store.startsWith(REDIS)) return new RedisStore(store);
        return new JdbcStore(new UrlDataSource(store));
    }

    /** Returns once the parent says that all have been served, or has ended. Blocks. */
    public void awaitEnd() throws IOException {
        System.out.println(READY);
        if (parent.readLine() == null) Runtime.getRuntime().halt(1);
    }

    /** Fetches; the status is 429 if the server refuses it. The token is that of the permit. */
    public CompletableFuture<Integer> fetch(long token) {
        URI uri = URI.create(server + "/fetch?jvm=" + jvm + "&token=" + token);
        return client.sendAsync(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding())
                .thenApply(HttpResponse::statusCode);
    }

    /** A permit was lost. */
    public void lost(String why) {
        System.out.println(LOST + why);
    }
}
