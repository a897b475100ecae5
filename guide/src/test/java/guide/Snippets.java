package guide;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Compares code of documents with code that is compiled and run: the tests of this module, and the samples. A block occurs if one
 * source has its imports and, in this order, its paragraphs, which blank lines separate. Between two paragraphs the source may have
 * a little more code, such as an assertion, but not the beginning of another test. White space, comments at the ends of lines and
 * commas before a closing parenthesis do not count, because formatters and documents break lines differently.
 */
public final class Snippets {
    private static final Pattern COMMENT = Pattern.compile("(?m)(^|\\s)//.*$");
    private static final Pattern BLANK_LINES = Pattern.compile("\\R\\s*\\R");

    /** In characters other than white space. */
    private static final int MOST_BETWEEN_PARAGRAPHS = 160;

    private static final String BETWEEN_PARAGRAPHS = "(?:(?!@Test).){0," + MOST_BETWEEN_PARAGRAPHS + "}?";
    private static final List<String> SOURCES;

    static {
        try {
            SOURCES = sources();
        } catch (IOException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private Snippets() {}

    /** Returns those of the snippets that occur in no source. */
    public static List<String> missing(List<String> snippets) {
        return snippets.stream()
                .filter(snippet -> SOURCES.stream().noneMatch(source -> occurs(snippet, source)))
                .toList();
    }

    private static boolean occurs(String snippet, String source) {
        StringBuilder code = new StringBuilder();
        for (String line : COMMENT.matcher(snippet).replaceAll("").lines().toList()) {
            if (!line.startsWith("import ")) code.append(line).append('\n');
            else if (!source.contains(plain(line))) return false;
        }
        String paragraphs = BLANK_LINES
                .splitAsStream(code)
                .map(paragraph -> Pattern.quote(plain(paragraph)))
                .collect(Collectors.joining(BETWEEN_PARAGRAPHS));
        return Pattern.compile(paragraphs).matcher(source).find();
    }

    private static String plain(String code) {
        return COMMENT.matcher(code).replaceAll("").replaceAll("\\s", "").replace(",)", ")");
    }

    private static List<String> sources() throws IOException {
        List<String> found = new ArrayList<>();
        for (String folder : List.of("guide/src/test", "samples/src/main")) {
            for (Path file : Pages.files(Pages.ROOT.resolve(folder), "kt", "java"))
                found.add(plain(Files.readString(file)));
        }
        return found;
    }
}
