package guide;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * {@code llms.txt} is the guide for programs that write code: of each page its first paragraph and its code, which {@link
 * MarkdownTest} has found in sources that are compiled and run. {@code -Dapi.update=true} writes it.
 */
@Tag("any-jdk")
class LlmsTextTest {
    private static final Path FILE = Pages.ROOT.resolve("llms.txt");
    private static final Pattern PAGE = Pattern.compile("\\]\\(([\\w-]+\\.md)\\)");
    private static final List<String> WITHOUT_CODE_OF_OURS =
            List.of("MIGRATING.md", "BENCHMARKS.md", "SCHEDULE_TABLES.md");

    @Test
    void llmsText_isThatOfThePages() throws IOException {
        String text = text();
        if (Boolean.getBoolean("api.update")) Files.writeString(FILE, text);
        String message = "write it anew: mvn -pl guide -am test -Dtest=LlmsTextTest -Dapi.update=true"
                + " -Dsurefire.failIfNoSpecifiedTests=false";
        assertEquals(text, Files.readString(FILE), message);
    }

    private static String text() throws IOException {
        StringBuilder text = new StringBuilder("# Baton\n\n> ")
                .append(firstParagraph(Files.readString(Pages.ROOT.resolve("README.md")))
                        .replace('\n', ' '))
                .append(
                        "\n\nImport by name: star imports of kotlinx.coroutines hide Baton's classes. Kotlin code is in the packages")
                .append(
                        " `baton.…` of the artifacts baton-primitives and baton-scheduler,\nJava code in `baton.interop` of")
                .append(" baton-java-interop. All code below is that of tests.\n");
        Path guide = Pages.ROOT.resolve("docs/README.md");
        List<String> pages = PAGE.matcher(Files.readString(guide))
                .results()
                .map(match -> match.group(1))
                .distinct()
                .filter(page -> !WITHOUT_CODE_OF_OURS.contains(page))
                .toList();
        for (String page : pages) addPage(text, page, Files.readString(guide.resolveSibling(page)));
        return text.toString();
    }

    private static void addPage(StringBuilder text, String name, String page) {
        String title = page.lines().findFirst().orElseThrow().substring(2);
        text.append("\n## [").append(title).append("](docs/").append(name).append(")\n\n");
        text.append(firstParagraph(page)).append('\n');
        String heading = "";
        boolean isInBlock = false;
        boolean isCopied = false;
        for (String line : page.lines().toList()) {
            boolean isFence = line.startsWith("```");
            if (isFence && !isInBlock) isCopied = line.matches("```(kotlin|java)");
            if (isFence && !isInBlock && isCopied) {
                text.append('\n').append(heading);
                heading = "";
            }
            if (!isInBlock && line.startsWith("## ")) heading = "#" + line + "\n\n";
            if (isCopied && (isFence || isInBlock)) text.append(line).append('\n');
            if (isFence) isInBlock = !isInBlock;
        }
    }

    private static String firstParagraph(String page) {
        return String.join(
                        "\n",
                        page.lines().skip(2).takeWhile(line -> !line.isEmpty()).toList())
                .replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1");
    }
}
