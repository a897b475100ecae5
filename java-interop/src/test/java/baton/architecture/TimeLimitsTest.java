package baton.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A test that waits for a process, a thread or a database gives up after two minutes or later: on a loaded machine a JVM
 * needs half a minute to start. Limits below five seconds are the subject of their tests, and are not checked.
 */
@Tag("any-jdk")
class TimeLimitsTest {
    private static final String SHORT = "([5-9]|[1-9][0-9]|1[01][0-9])";
    private static final Pattern LIMIT = Pattern.compile(String.join(
            "|",
            "\\b(waitFor|poll|get|await\\w*|tryAcquire|orTimeout)\\((.*, )?" + SHORT + ", (TimeUnit\\.)?SECONDS\\)",
            "\\b(waitFor|poll|get|await\\w*|tryAcquire|orTimeout)\\((.*, )?1, (TimeUnit\\.)?MINUTES\\)",
            "\\bSECONDS\\.to(Nanos|Millis)\\(" + SHORT + "\\)",
            "\\bjoin\\([1-9][0-9]?_?000\\)",
            "\\bwithTimeout\\((1\\.minutes|[2-9][0-9]\\.seconds)\\)",
            "@Timeout\\((value = )?[0-9]{1,2}[,)]",
            "\\boutcome\\((seconds = )?[0-9]{1,2}\\)",
            "\\bassertTimeout(Preemptively)?\\(.*ofSeconds\\(" + SHORT + "\\)"));

    @Test
    void limit_belowTwoMinutes_isInNoTest() throws IOException {
        List<String> limits = new ArrayList<>();
        int files = 0;
        for (String module : List.of(
                "primitives",
                "shared",
                "distributed",
                "distributed-redis",
                "distributed-zookeeper",
                "scheduler",
                "micrometer",
                "test",
                "java-interop",
                "samples",
                "benchmarks",
                "verification")) {
            for (Path file : tests(Path.of("..", module, "src"))) {
                files++;
                for (String line : Files.readAllLines(file)) {
                    if (LIMIT.matcher(line).find()) limits.add(file.getFileName() + ": " + line.strip());
                }
            }
        }
        assertTrue(files > 300, files + " files of tests");
        assertEquals(List.of(), limits);
    }

    /** The programs of two modules are tests, wherever they lie. */
    private static List<Path> tests(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().matches(".*(/test/|benchmarks|verification).*\\.(kt|java)"))
                    .toList();
        }
    }
}
