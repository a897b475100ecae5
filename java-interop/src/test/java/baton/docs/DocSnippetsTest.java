package baton.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The code in the documents compiles: it occurs in a test of this folder, of its Kotlin twin, or of the one in baton-test. White space and comments
 * at the ends of lines do not count, because formatters and documents break lines differently.
 */
class DocSnippetsTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern BLOCK = Pattern.compile("(?s)```(?:kotlin|java)\\R(.*?)```");
    private static final Pattern JAVADOC_EXAMPLE = Pattern.compile("(?s)<pre>\\{@code(.*?)\\R \\* \\}</pre>");
    private static final Pattern COMMENT = Pattern.compile("(?m)(^|\\s)//.*$");
    private static final Pattern SEARCH = Pattern.compile("grep -rnE '([^']+)' src");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    /** A line for each difference of the migration page, in its order. */
    private static final String THEIR_CODE = """
            try { left.send(1) } catch (_: CancellationException) { }
            channel.close()
            channel.cancel()
            channel.send(number)
            val numbers = scope.produce<Int> {
            Channel<Int>(capacity = 1, onUndeliveredElement = { log(it) })
            Channel<Int>(Channel.BUFFERED)
            withTimeoutOrNull(50) { semaphore.acquire() }
            mutex.unlock()
            select<Unit> {
            urls.map { async { fetch(it) } }.awaitAll()
            Lock lock = new ReentrantLock();
            semaphore.release(2);
            request.get(20, TimeUnit.MILLISECONDS);
            CyclicBarrier barrier = new CyclicBarrier(3);
            String line = queue.poll();
            future.cancel(true);
            SubmissionPublisher<String> publisher = new SubmissionPublisher<>();
            Semaphore uplink = new Semaphore(5);
            RateLimiter limiter = RateLimiter.create(10);
            Bulkhead bulkhead = Bulkhead.of("backend", config);
            bulkhead.changeConfig(config);
            CircuitBreaker breaker = CircuitBreaker.of("backend", config);
            CircuitBreakerConfig config = CircuitBreakerConfig.ofDefaults();
            RetryConfig config = RetryConfig.ofDefaults();
            """;

    private static String plain(String code) {
        return COMMENT.matcher(code).replaceAll("").replaceAll("\\s", "");
    }

    private static List<String> sources() throws IOException {
        List<String> found = new ArrayList<>();
        for (String folder : List.of(
                "src/test/java/baton/docs",
                "src/test/kotlin/baton/docs",
                "../test/src/test/kotlin/baton/test/docs",
                "../micrometer/src/test/kotlin/baton/micrometer")) {
            try (Stream<Path> files = Files.list(Path.of(folder))) {
                for (Path file : files.filter(path -> !path.endsWith("DocSnippetsTest.java"))
                        .toList()) {
                    found.add(plain(Files.readString(file)));
                }
            }
        }
        return found;
    }

    private static List<String> missing(List<String> snippets) throws IOException {
        assertFalse(snippets.isEmpty(), "no snippets found");
        List<String> sources = sources();
        return snippets.stream()
                .filter(snippet -> sources.stream().noneMatch(source -> source.contains(plain(snippet))))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "README.md",
                "docs/MIGRATING.md",
                "docs/testing.md",
                "docs/metrics.md",
                "docs/context.md",
                "docs/resilience.md"
            })
    void codeBlocks_ofADocument_occurInTests(String document) throws IOException {
        String text = Files.readString(ROOT.resolve(document));
        List<String> blocks =
                BLOCK.matcher(text).results().map(match -> match.group(1)).toList();
        assertEquals(List.of(), missing(blocks));
    }

    /** Its examples use libraries that only tests depend on. */
    @Test
    void examples_inTheJavadocOfContextPropagator_occurInTests() throws IOException {
        String text = Files.readString(Path.of("src/main/java/baton/interop/ContextPropagator.java"));
        List<String> examples = JAVADOC_EXAMPLE
                .matcher(text)
                .results()
                .map(match -> match.group(1).replaceAll("\\R \\*", "\n"))
                .toList();
        assertEquals(List.of(), missing(examples));
    }

    /** Users search their own code by them. */
    @Test
    void patterns_ofTheMigrationPage_findWhatTheyAreFor() throws IOException {
        String text = Files.readString(ROOT.resolve("docs/MIGRATING.md"));
        List<String> patterns =
                SEARCH.matcher(text).results().map(match -> match.group(1)).toList();
        long paragraphs = text.lines()
                .takeWhile(line -> !line.equals("## What to use instead"))
                .filter(line -> line.startsWith("**"))
                .count();
        assertEquals(paragraphs, patterns.size());
        List<String> lines = THEIR_CODE.lines().toList();
        assertEquals(lines.size(), patterns.size());
        for (int i = 0; i < lines.size(); i++) {
            assertTrue(Pattern.compile(patterns.get(i)).matcher(lines.get(i)).find(), patterns.get(i));
        }
    }

    /** The last column of its table names what is ours. */
    @Test
    void codeInTheTable_ofTheMigrationPage_occursInTests() throws IOException {
        List<String> code = new ArrayList<>();
        for (String line : Files.readAllLines(ROOT.resolve("docs/MIGRATING.md"))) {
            String[] cells = line.split("\\|");
            if (!line.startsWith("|") || cells.length < 4) continue;
            CODE.matcher(cells[3]).results().map(match -> match.group(1)).forEach(code::add);
        }
        assertEquals(List.of(), missing(code));
    }
}
