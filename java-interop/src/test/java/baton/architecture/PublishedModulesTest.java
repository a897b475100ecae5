package baton.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Names the places that do not know a published module yet. "Add a module" in CONTRIBUTING.md goes through them. */
@Tag("any-jdk")
class PublishedModulesTest {
    private static final Path ROOT = Path.of("..");

    /** Modules without a dump of their API, which makes the profile {@code published} leave them out. */
    private static final Set<String> NOT_PUBLISHED =
            Set.of("compatibility", "samples", "benchmarks", "verification", "guide", "site");

    /** Files that list each published module, by its folder or by its artifact. */
    private static final List<String> PLACES = List.of(
            "pom.xml", // for the other modules, in dependencyManagement
            "bom/pom.xml",
            "site/pom.xml", // as a dependency, and the folders of its sources
            "release/consumer/pom.xml",
            "java-interop/src/test/java/baton/architecture/PublishedPomsTest.java",
            "java-interop/src/test/java/baton/architecture/ApiDumpTest.java",
            "java-interop/src/test/java/baton/architecture/VisibleClassesTest.java");

    @Test
    void modulesOfTheBuild_arePublished_orKnownNotToBe() throws IOException {
        Set<String> expected = published();
        expected.add("bom");
        Set<String> modules = modulesOfTheBuild();
        modules.removeAll(NOT_PUBLISHED);
        assertEquals(expected, modules);
    }

    @TestFactory
    Stream<DynamicTest> publishedModules_areKnownEverywhere() throws IOException {
        return published().stream()
                .map(module -> DynamicTest.dynamicTest(module, () -> {
                    String artifact = firstMatch("</parent>.*?<artifactId>(.*?)</artifactId>", module);
                    for (String place : PLACES) {
                        String text = Files.readString(ROOT.resolve(place));
                        assertTrue(
                                text.contains("<artifactId>" + artifact + "</artifactId>")
                                        || text.contains('"' + module + '"'),
                                artifact + " is not in " + place);
                    }
                }));
    }

    private static Set<String> published() throws IOException {
        try (Stream<Path> folders = Files.list(ROOT)) {
            Set<String> found = folders.filter(folder -> Files.isDirectory(folder.resolve("api")))
                    .map(folder -> folder.getFileName().toString())
                    .collect(Collectors.toCollection(TreeSet::new));
            assertTrue(found.size() >= 6, found::toString);
            return found;
        }
    }

    private static Set<String> modulesOfTheBuild() throws IOException {
        return Pattern.compile("<module>(.*?)</module>")
                .matcher(Files.readString(ROOT.resolve("pom.xml")))
                .results()
                .map(module -> module.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String firstMatch(String pattern, String module) throws IOException {
        return Pattern.compile(pattern, Pattern.DOTALL)
                .matcher(Files.readString(ROOT.resolve(module).resolve("pom.xml")))
                .results()
                .map((MatchResult match) -> match.group(1))
                .findFirst()
                .orElseThrow();
    }
}
