package guide.migrating;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import guide.Pages;
import guide.Snippets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The patterns and the table of names of docs/MIGRATING.md; {@code MarkdownTest} checks its blocks of code. */
@Tag("any-jdk")
class MigratingPageTest {
    private static final Path PAGE = Pages.ROOT.resolve("docs/MIGRATING.md");
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

    /** Users search their own code by them. */
    @Test
    void patterns_ofTheMigrationPage_findWhatTheyAreFor() throws IOException {
        String text = Files.readString(PAGE);
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
        for (String line : Files.readAllLines(PAGE)) {
            String[] cells = line.split("\\|");
            if (!line.startsWith("|") || cells.length < 4) continue;
            CODE.matcher(cells[3]).results().map(match -> match.group(1)).forEach(code::add);
        }
        assertEquals(List.of(), Snippets.missing(code));
    }
}
