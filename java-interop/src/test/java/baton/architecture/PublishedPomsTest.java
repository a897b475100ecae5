package baton.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The published POMs name the oldest versions of other libraries that work. Users who name no versions get these. */
@Tag("any-jdk")
class PublishedPomsTest {
    private static final Map<String, String> FLOORS = Map.of(
            "kotlin-stdlib", "kotlin.stdlib.floor",
            "kotlinx-coroutines-core-jvm", "coroutines.floor",
            "micrometer-core", "micrometer.floor",
            "lettuce-core", "lettuce.floor",
            "curator-framework", "curator.floor",
            "kotlinx-coroutines-test-jvm", "coroutines.floor",
            "junit-jupiter-api", "junit.floor");

    private static final Pattern DEPENDENCY =
            Pattern.compile("<artifactId>(.*)</artifactId>\\s*<version>(.*)</version>\\s*<scope>compile</scope>");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "primitives",
                "shared",
                "distributed",
                "distributed-redis",
                "distributed-zookeeper",
                "scheduler",
                "micrometer",
                "test",
                "java-interop"
            })
    void dependencies_onOtherLibraries_haveTheOldestVersions(String module) throws IOException {
        String parent = Files.readString(Path.of("..", "pom.xml"));
        String pom = Files.readString(Path.of("..", module, ".flattened-pom.xml"));
        Set<String> checked = new HashSet<>();
        for (MatchResult dependency : DEPENDENCY.matcher(pom).results().toList()) {
            String floor = FLOORS.get(dependency.group(1));
            if (floor == null) continue;
            checked.add(dependency.group(1));
            assertTrue(
                    parent.contains("<" + floor + ">" + dependency.group(2) + "</" + floor + ">"), dependency.group());
        }
        Set<String> expected = FLOORS.keySet().stream()
                .filter(library -> pom.contains("<artifactId>" + library + "</artifactId>"))
                .collect(Collectors.toSet());
        assertEquals(expected, checked);
        assertTrue(checked.contains("kotlin-stdlib"), pom);
        assertEquals(module.equals("micrometer"), checked.contains("micrometer-core"));
    }
}
