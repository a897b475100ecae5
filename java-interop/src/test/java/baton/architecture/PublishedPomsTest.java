package baton.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The published POMs name the oldest versions of other libraries that work. Users who name no versions get these. */
class PublishedPomsTest {
    private static final Map<String, String> FLOORS = Map.of(
            "kotlin-stdlib", "kotlin.stdlib.floor",
            "kotlinx-coroutines-core-jvm", "coroutines.floor",
            "micrometer-core", "micrometer.floor");

    private static final Pattern DEPENDENCY =
            Pattern.compile("<artifactId>(.*)</artifactId>\\s*<version>(.*)</version>\\s*<scope>compile</scope>");

    @ParameterizedTest
    @ValueSource(strings = {"primitives", "scheduler", "micrometer", "java-interop"})
    void dependencies_onOtherLibraries_haveTheOldestVersions(String module) throws IOException {
        String parent = Files.readString(Path.of("..", "pom.xml"));
        String pom = Files.readString(Path.of("..", module, ".flattened-pom.xml"));
        assertTrue(pom.contains("<artifactId>kotlin-stdlib</artifactId>"), pom);
        for (MatchResult dependency : DEPENDENCY.matcher(pom).results().toList()) {
            String floor = FLOORS.get(dependency.group(1));
            if (floor == null) continue;
            assertTrue(
                    parent.contains("<" + floor + ">" + dependency.group(2) + "</" + floor + ">"), dependency.group());
        }
        assertEquals(module.equals("micrometer"), pom.contains("micrometer-core"));
    }
}
