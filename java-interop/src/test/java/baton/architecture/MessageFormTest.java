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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Refusals have one form in all modules: the value first and then its bound, "permits = 0, must be at least 1". */
@Tag("any-jdk")
class MessageFormTest {
    private static final Pattern LITERAL = Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"");

    @ParameterizedTest
    @ValueSource(
            strings = {"primitives", "shared", "distributed", "distributed-redis", "scheduler", "test", "java-interop"})
    void refusals_sayTheValueAndThenItsBound(String module) throws IOException {
        List<String> refusals = new ArrayList<>();
        for (Path file : sources(Path.of("..", module, "src", "main"))) {
            for (String line : Files.readAllLines(file)) {
                String code = line.strip();
                if (code.startsWith("*") || code.startsWith("/")) continue;
                LITERAL.matcher(code)
                        .results()
                        .map(literal -> literal.group())
                        .filter(literal -> literal.contains("must "))
                        .forEach(refusals::add);
            }
        }
        assertTrue(refusals.size() > 1, "too few refusals found in " + module + ": " + refusals);
        assertEquals(
                List.of(),
                refusals.stream().filter(text -> !text.contains(", must ")).toList());
    }

    private static List<Path> sources(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().matches(".*\\.(kt|java)"))
                    .toList();
        }
    }
}
