package guide;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** In every Markdown file the code is that of {@link Snippets}, and each link within the repository leads to something. */
@Tag("any-jdk")
class MarkdownTest {
    private static final Pattern BLOCK = Pattern.compile("(?ms)^ *```(?:kotlin|java)\\R(.*?)^ *```");
    private static final Pattern LANGUAGE = Pattern.compile("(?m)^ *```(\\S[^`\\r\\n]*)$");
    private static final Set<String> LANGUAGES = Set.of("kotlin", "java", "xml", "sql");
    private static final Pattern FENCED = Pattern.compile("(?ms)^ *```.*?^ *```\\s*?$");
    private static final Pattern JAVADOC_EXAMPLE = Pattern.compile("(?s)<pre>\\{@code(.*?)\\R \\* \\}</pre>");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.+?) *$");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)(?:\\s+\"[^\"]*\")?\\)"
            + "|(?m)^\\[[^\\]]+\\]: *(\\S+)" + "|<(?:a|img)\\b[^>]*\\b(?:href|src)=\"([^\"]+)\"");
    private static final Pattern ANCHOR = Pattern.compile("<a\\b[^>]*\\b(?:id|name)=\"([^\"]+)\"");
    private static final Pattern ELSEWHERE = Pattern.compile("(https?|mailto):.*");
    private static final Pattern OF_A_MACHINE =
            Pattern.compile("(/|~|file:|[A-Za-z]:\\\\).*|\\w+://(localhost|127\\.|\\[::1).*");

    private interface Check {
        List<String> faults(Path page) throws IOException;
    }

    private static Stream<DynamicTest> onEachPage(Check check) throws IOException {
        List<Path> pages = Pages.all();
        assertTrue(pages.size() > 10, pages::toString);
        return pages.stream().map(page -> {
            String name = Pages.ROOT.relativize(page).toString();
            return DynamicTest.dynamicTest(name, () -> assertEquals(List.of(), check.faults(page), name));
        });
    }

    @TestFactory
    Stream<DynamicTest> codeBlocks_ofEachPage_occurInSources() throws IOException {
        return onEachPage(page -> Snippets.missing(groups(BLOCK, Files.readString(page))));
    }

    /** Code that is marked in another way, such as {@code ```kt}, would not be compared with the sources. */
    @TestFactory
    Stream<DynamicTest> codeBlocks_ofEachPage_haveALanguageThatIsKnown() throws IOException {
        return onEachPage(page -> groups(LANGUAGE, Files.readString(page)).stream()
                .filter(language -> !LANGUAGES.contains(language))
                .toList());
    }

    @TestFactory
    Stream<DynamicTest> links_ofEachPage_leadToSomething() throws IOException {
        return onEachPage(page -> {
            List<String> faults = new ArrayList<>();
            for (String link : groups(LINK, withoutCode(page)))
                fault(page, link).ifPresent(faults::add);
            return faults;
        });
    }

    /** Its examples use libraries that only tests depend on. */
    @Test
    void examples_inTheJavadocOfContextPropagator_occurInSources() throws IOException {
        String file = "java-interop/src/main/java/baton/interop/ContextPropagator.java";
        List<String> examples = groups(JAVADOC_EXAMPLE, Files.readString(Pages.ROOT.resolve(file))).stream()
                .map(example -> example.replaceAll("\\R \\*", "\n"))
                .toList();
        assertFalse(examples.isEmpty());
        assertEquals(List.of(), Snippets.missing(examples));
    }

    private static Optional<String> fault(Path page, String link) throws IOException {
        if (OF_A_MACHINE.matcher(link).matches()) return Optional.of(link + " is a path of a machine");
        if (ELSEWHERE.matcher(link).matches()) return Optional.empty();
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
        if (!target.startsWith(Pages.ROOT) || !Files.exists(target)) return Optional.of(link + " is missing");
        if (parts.length == 1) return Optional.empty();
        boolean isThere = target.toString().endsWith(".md") && anchors(target).contains(parts[1]);
        return isThere ? Optional.empty() : Optional.of(link + ": there is no such heading");
    }

    /** As forges make them from headings: of equal ones the second ends with -1. */
    private static Set<String> anchors(Path page) throws IOException {
        String text = withoutCode(page);
        Set<String> anchors = new HashSet<>(groups(ANCHOR, text));
        Map<String, Integer> seen = new HashMap<>();
        for (String heading : groups(HEADING, text)) {
            String slug = heading.replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
                    .toLowerCase(Locale.ROOT)
                    .replaceAll("[^\\p{L}\\p{N}\\p{M} _-]", "")
                    .replace(' ', '-');
            int before = seen.merge(slug, 1, Integer::sum) - 1;
            anchors.add(before == 0 ? slug : slug + "-" + before);
        }
        return anchors;
    }

    private static String withoutCode(Path page) throws IOException {
        return FENCED.matcher(Files.readString(page)).replaceAll("");
    }

    private static List<String> groups(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(MarkdownTest::firstGroup).toList();
    }

    private static String firstGroup(MatchResult match) {
        for (int i = 1; i <= match.groupCount(); i++) if (match.group(i) != null) return match.group(i);
        throw new IllegalStateException(match.group());
    }
}
