package baton.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.shared.SharedRegion;
import java.io.File;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A program on the module path can use the exported types, and cannot access the others. The optional {@code baton-shared}
 * is there only where a test names it.
 */
class ModulePathTest {
    private static final String SHARED = "baton-shared";
    private static final Path SHARED_CLASSES = homeOf(SharedRegion.class);
    private static final List<String> MICROMETER = List.of("baton-micrometer", "micrometer-", "HdrHistogram");
    private static final String USER = """
            package stranger;
            import baton.interop.AsyncSemaphore;
            import baton.interop.CancellableFuture;
            import baton.interop.Permit;
            import baton.interop.PriorityExecutor;
            public class Main {
                public static void main(String[] args) {
                    AsyncSemaphore semaphore = AsyncSemaphore.create(1);
                    Permit permit = semaphore.acquire().join();
                    var waits = semaphore.acquire();
                    var timed = semaphore.acquire(java.time.Duration.ofMillis(1)).handle((p, e) -> e);
                    System.out.println(timed.join().getClass().getSimpleName());
                    permit.close();
                    System.out.println(waits.join() + " " + semaphore.kotlin().getPermits());
                    System.out.println(AsyncSemaphore.class.getModule());
                    // The superclasses are not exported, but the inherited methods are accessible.
                    CancellableFuture<Integer> one = CancellableFuture.supply(Runnable::run, token -> 1);
                    java.util.concurrent.CompletableFuture<Integer> two = one.thenApply(x -> x + 1);
                    var executor = PriorityExecutor.create(1);
                    System.out.println(one.thenCombine(two, Integer::sum).thenAcceptAsync(x -> {}, executor).join());
                    executor.shutdown();
                    try (var monitor = baton.interop.AsyncMonitor.start(
                            java.time.Duration.ofDays(1), baton.interop.AsyncMonitor.rules(), alert -> {})) {
                        monitor.watch("uplink", semaphore);
                        System.out.println(monitor.snapshot().get("uplink").getWaiters());
                    }
                    // A schedule in memory needs no java.sql.
                    var schedule = baton.interop.AsyncSchedule.<String>builder(due -> null).start();
                    schedule.put("a", baton.interop.Triggers.every(java.time.Duration.ofDays(1)));
                    var sql = ModuleLayer.boot().findModule("java.sql").isPresent();
                    System.out.println(schedule.size() + " " + sql);
                    schedule.close();
                    var task = baton.interop.AsyncTaskScheduler.create(1).schedule(baton.Priority.LOW, () -> "task");
                    task.priority(baton.Priority.HIGH);
                    System.out.println(task.orTimeout(120, java.util.concurrent.TimeUnit.SECONDS).join());
                }
            }
            """;

    @TempDir
    private Path classes;

    private static String modulePath(List<String> further) {
        List<String> known = new ArrayList<>(further);
        known.addAll(List.of(
                "baton-primitives",
                "baton-scheduler",
                "kotlin-stdlib",
                "kotlinx-coroutines-core",
                "jspecify",
                "annotations"));
        List<String> found = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            String name = new File(entry).getName();
            boolean isModule = new File(entry, "module-info.class").exists()
                    || known.stream().anyMatch(name::startsWith);
            boolean isWanted = known.contains(SHARED) || !Path.of(entry).equals(SHARED_CLASSES);
            if (isModule && isWanted && !name.contains("tests")) {
                found.add(entry);
            }
        }
        return String.join(File.pathSeparator, found);
    }

    private static Path homeOf(Class<?> type) {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private List<String> compile(String user) throws Exception {
        return compile("baton.interop", modulePath(List.of()), user);
    }

    private List<String> compile(String required, String modulePath, String user) throws Exception {
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        ToolProvider.getSystemJavaCompiler()
                .getTask(
                        null,
                        null,
                        diagnostics,
                        List.of("-p", modulePath, "-d", classes.toString()),
                        null,
                        List.of(
                                source("module-info", "module stranger { requires " + required + "; }"),
                                source("stranger/Main", user)))
                .call();
        return diagnostics.getDiagnostics().stream()
                .filter(d -> d.getKind() == Diagnostic.Kind.ERROR)
                .map(Diagnostic::getCode)
                .toList();
    }

    private static JavaFileObject source(String name, String text) {
        return new SimpleJavaFileObject(URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
    }

    @Test
    void program_onTheModulePath_compilesAndRuns() throws Exception {
        assertEquals(List.of(), compile(USER));
        List<String> output = run(modulePath(List.of()));
        assertEquals(
                List.of(
                        "PermitTimeoutException",
                        "held: 1 permit of Semaphore (permits = 1, available = 0, waiting = 0) 1",
                        "module baton.interop",
                        "null",
                        "[]",
                        "1 false",
                        "task"),
                output);
    }

    @Test
    void micrometer_onTheModulePath_isFoundByItsModule() throws Exception {
        String user = """
                package stranger;
                import baton.micrometer.BatonMetrics;
                import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
                public class Main {
                    public static void main(String[] args) {
                        System.out.println(BatonMetrics.class.getModule());
                        System.out.println(new SimpleMeterRegistry().getClass().getModule().getName());
                    }
                }
                """;
        assertEquals(List.of(), compile("baton.micrometer", modulePath(MICROMETER), user));
        assertEquals(List.of("module baton.micrometer", "micrometer.core"), run(modulePath(MICROMETER)));
    }

    private static final List<String> TEST_FRAMEWORKS = List.of("kotlinx-coroutines-test", "junit-", "kotest-");

    /** A program that explores orders needs no artifact of a test framework. */
    @Test
    void test_onTheModulePath_needsNoTestFramework_andItsHookIsFound() throws Exception {
        String user = """
                package stranger;
                import baton.sync.Mutex;
                import baton.test.ExploreKt;
                import java.util.concurrent.atomic.AtomicInteger;
                import kotlin.Unit;
                import kotlinx.coroutines.BuildersKt;
                import kotlinx.coroutines.CoroutineStart;
                import kotlin.coroutines.EmptyCoroutineContext;
                public class Main {
                    public static void main(String[] args) {
                        var orders = new AtomicInteger();
                        ExploreKt.explore(100, 1L, false, (scope, caller) -> {
                            orders.incrementAndGet();
                            for (int i = 0; i < 2; i++) {
                                BuildersKt.launch(scope, EmptyCoroutineContext.INSTANCE, CoroutineStart.DEFAULT,
                                        (inner, end) -> new Mutex(false, null).lock(null, end));
                            }
                            return Unit.INSTANCE;
                        });
                        System.out.println(ExploreKt.class.getModule() + " " + orders);
                    }
                }
                """;
        String path = modulePath(List.of("baton-test"));
        assertTrue(TEST_FRAMEWORKS.stream().noneMatch(path::contains), path);
        assertEquals(List.of(), compile("baton.test", path, user));
        // The orders of two starts and two calls. Without the hook there were the two of the starts.
        assertEquals(List.of("module baton.test 6"), run(path));
    }

    /** A program that opens a region, and uses a semaphore whether it can or not. */
    private static final String USER_OF_SHARED = """
            package stranger;
            import baton.interop.AsyncSemaphore;
            import baton.interop.AsyncSharedRegion;
            public class Main {
                public static void main(String[] args) throws Exception {
                    var home = Main.class.getProtectionDomain().getCodeSource().getLocation().toURI();
                    var file = java.nio.file.Path.of(home).resolve("region");
                    try (var region = AsyncSharedRegion.open(file)) {
                        System.out.println("opened " + region.toString().startsWith("AsyncSharedRegion"));
                    } catch (IllegalStateException e) {
                        System.out.println(e.getMessage());
                    }
                    System.out.println(AsyncSemaphore.create(1).tryAcquire().isPresent());
                }
            }
            """;

    private static final List<String> MISSING = List.of(
            "AsyncSharedRegion needs the artifact io.github.baton-kt:baton-shared, in the version of baton-java-interop;"
                    + " on the module path, the program also needs `requires baton.shared`",
            "true");

    @Test
    void sharedRegion_withoutItsArtifact_namesItAtTheCall() throws Exception {
        assertEquals(List.of(), compile("baton.interop", modulePath(List.of(SHARED)), USER_OF_SHARED));
        String path = modulePath(List.of());
        assertEquals(MISSING, run(path));
        assertEquals(MISSING, runJava("-cp", path + File.pathSeparator + classes, "stranger.Main"));
    }

    /** A module that is optional for another is there only if the program requires it. */
    @Test
    void sharedRegion_withItsArtifactAlone_namesTheModule_andOpensOnceThatIsRequired() throws Exception {
        String path = modulePath(List.of(SHARED));
        assertEquals(List.of(), compile("baton.interop", path, USER_OF_SHARED));
        assertEquals(MISSING, run(path));
        assertEquals(
                List.of("opened true", "true"), runJava("-cp", path + File.pathSeparator + classes, "stranger.Main"));
        assertEquals(List.of(), compile("baton.interop; requires baton.shared", path, USER_OF_SHARED));
        assertEquals(List.of("opened true", "true"), run(path));
    }

    /** The lines that the program prints. */
    private List<String> run(String modulePath) throws Exception {
        return runJava("-p", modulePath + File.pathSeparator + classes, "-m", "stranger/stranger.Main");
    }

    private static List<String> runJava(String... arguments) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertTrue(process.waitFor(120, TimeUnit.SECONDS));
        return output.lines().toList();
    }

    @Test
    void internals_areOutOfReachOfStrangers() throws Exception {
        for (String internal : List.of(
                "baton.waiting.WaitCore",
                "baton.waiting.threads.Trampoline",
                "baton.sync.core.MutexCore",
                "baton.scheduler.bridge.StageTask",
                "baton.interop.internal.cancel.CancellationNode",
                "baton.interop.internal.futures.WaiterFuture",
                "baton.interop.internal.select.Clause")) {
            List<String> errors = compile("package stranger; public class Main { " + internal + " x; }");
            assertFalse(errors.isEmpty(), internal);
            assertTrue(
                    errors.stream().allMatch(code -> code.equals("compiler.err.package.not.visible")),
                    errors::toString);
        }
        assertEquals(List.of(), compile("package stranger; public class Main { baton.sync.Semaphore x; }"));
    }
}
