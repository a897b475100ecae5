package guide.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import guide.Pages;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A stranger reads README.md in a minute, so it stays short: facts belong to the pages that it links. */
@Tag("any-jdk")
class ReadmeLimitsTest {
    private static final Pattern WORD = Pattern.compile("\\S*[\\p{L}\\p{N}]\\S*");

    private static List<String> linesWithoutCode() throws IOException {
        String text = Files.readString(Pages.ROOT.resolve("README.md")).replaceAll("(?ms)^```.*?^```$", "");
        return text.replaceAll("\\[?!\\[[^\\]]*\\]\\([^)]*\\)(\\]\\([^)]*\\))?", "") // images
                .replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
                .replaceAll("<[^>]*>", "")
                .lines()
                .toList();
    }

    private static long words(String text) {
        return WORD.matcher(text).results().count();
    }

    private static boolean isRow(String line) {
        return line.startsWith("|");
    }

    @Test
    void prose_hasAtMost800Words() throws IOException {
        long words = linesWithoutCode().stream()
                .filter(line -> !isRow(line))
                .mapToLong(ReadmeLimitsTest::words)
                .sum();
        assertTrue(words <= 800, words + " words");
    }

    @Test
    void cells_haveAtMost25Words() throws IOException {
        List<String> tooLong = linesWithoutCode().stream()
                .filter(ReadmeLimitsTest::isRow)
                .flatMap(row -> Stream.of(row.split("\\|")))
                .filter(cell -> words(cell) > 25)
                .toList();
        assertEquals(List.of(), tooLong);
    }

    @Test
    void features_haveAtMost14RowsOf12Words_eachWithALink() throws IOException {
        List<String> rows = Files.readAllLines(Pages.ROOT.resolve("README.md")).stream()
                .dropWhile(line -> !line.equals("## What is in it"))
                .skip(1)
                .takeWhile(line -> !line.startsWith("## "))
                .filter(ReadmeLimitsTest::isRow)
                .skip(2)
                .toList();
        assertTrue(!rows.isEmpty() && rows.size() <= 14, rows.size() + " rows");
        List<String> faults = rows.stream()
                .filter(row -> !row.contains("](docs/") || words(row.replaceAll("\\]\\([^)]*\\)", "]")) > 12)
                .toList();
        assertEquals(List.of(), faults);
    }
}
