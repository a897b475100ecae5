package baton.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Stream;
import org.jetbrains.kotlin.abi.tools.AbiFilters;
import org.jetbrains.kotlin.abi.tools.AbiTools;
import org.jetbrains.kotlin.abi.tools.AbiToolsFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares the public API of each published module with the dump in its {@code api} folder. A change of the API changes
 * the dump in the same commit: {@code -Dapi.update=true} writes it.
 */
@Tag("any-jdk")
class ApiDumpTest {
    private static final AbiTools TOOLS =
            ServiceLoader.load(AbiToolsFactory.class).iterator().next().get();

    private static final AbiFilters PUBLIC = new AbiFilters(
            Set.of(),
            Set.of(
                    "baton.waiting.**",
                    "baton.bridge.**",
                    "baton.distributed.bridge.**",
                    "baton.shared.bridge.**",
                    "baton.shared.counts.**",
                    "baton.shared.region.**",
                    "baton.shared.waiting.**",
                    "baton.shared.word.**",
                    "baton.scheduler.bridge.**",
                    "baton.scheduler.dispatch.**",
                    "baton.scheduler.jdbc.**",
                    "baton.scheduler.journal.**",
                    "baton.scheduler.tasks.**",
                    "baton.scheduler.schedule.**",
                    "baton.test.assertions.**",
                    "baton.test.interleaving.**",
                    "baton.test.simulation.**",
                    "baton.interop.internal.**"),
            Set.of(),
            Set.of("baton.InternalBatonApi"));

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
    void publicApi_isThatOfTheDump(String module) throws IOException {
        String api = publicApi(module);
        Path dump = Path.of("..", module, "api", "baton-" + module + ".api");
        if (Boolean.getBoolean("api.update")) {
            Files.createDirectories(dump.getParent());
            Files.writeString(dump, api);
        }
        assertTrue(!api.isEmpty(), "no public class found in " + module);
        assertEquals(Files.readString(dump), api, """
                The public API of %s is not that of its dump. See "Rules" in CONTRIBUTING.md.
                A line that is only in the dump breaks programs that are compiled already: keep it. A constructor of a
                configuration that gets a parameter keeps the old one as a hidden overload:
                @Deprecated("Binary compatibility", level = DeprecationLevel.HIDDEN).
                If the change is meant, -Dapi.update=true writes the dump.""".formatted(module));
    }

    /**
     * The functions that the compiler adds to a data class fix the number of its properties for ever. Of these, a class
     * may have a {@code copy} that is written by hand.
     */
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
    void publicApi_hasNoDataClass(String module) throws IOException {
        assertEquals(
                List.of(),
                publicApi(module)
                        .lines()
                        .filter(line -> line.contains(" component1 ("))
                        .toList());
    }

    static String publicApi(String module) throws IOException {
        StringBuilder api = new StringBuilder();
        TOOLS.printJvmDump(api, classFiles(Path.of("..", module, "target", "classes")), PUBLIC);
        return api.toString();
    }

    private static List<File> classFiles(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".class"))
                    .filter(file -> !file.endsWith("module-info.class"))
                    .sorted()
                    .map(Path::toFile)
                    .toList();
        }
    }
}
