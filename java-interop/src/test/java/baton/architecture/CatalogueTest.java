package baton.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/** Names the places that do not know a primitive yet. "Add a primitive" in CONTRIBUTING.md goes through them in order. */
@Tag("any-jdk")
class CatalogueTest {
    private static final List<JavaClass> CLASSES =
            BatonClasses.imported().stream().toList();
    private static final Map<String, String> SOURCES = sources();

    /**
     * A place that has a name like {@code AsyncX} for the primitive X.
     *
     * @param files the end of the paths of its files, one of which is enough.
     */
    private record Place(String files, String name, Predicate<JavaClass> isFor) {
        Place(String files, String name) {
            this(files, name, primitive -> true);
        }

        Optional<String> fault(JavaClass primitive) {
            String here = name.replace("X", primitive.getSimpleName());
            Pattern word = Pattern.compile("(?<!\\w)(" + here + ")");
            Pattern file = Pattern.compile(".*/" + files);
            boolean isKnown = !isFor.test(primitive)
                    || SOURCES.entrySet().stream()
                            .filter(source -> file.matcher(source.getKey()).matches())
                            .anyMatch(source -> word.matcher(source.getValue()).find());
            return isKnown ? Optional.empty() : Optional.of(word + " is not in " + files);
        }
    }

    private static final List<Place> PLACES = List.of(
            new Place("primitives/src/main/kotlin/baton/bridge/\\w+\\.kt", "X\\b"),
            new Place("baton/interop/Async\\w+\\.java", "class AsyncX\\b"),
            new Place("baton/interop/Blocking\\w+\\.java", "class BlockingX\\b", CatalogueTest::isMadeAlone),
            new Place("baton/interop/Select\\.java", "AsyncX\\b", CatalogueTest::isSelectable),
            new Place("AsyncMonitor\\.java", "AsyncX\\b"),
            new Place("WaitKind\\.java", "AsyncX\\b"),
            new Place("NullArgumentsTest\\.java", "(Async|new)X\\b"),
            new Place("primitives/src/test/.*Face\\w*\\.kt", "X\\b"),
            new Place("java-interop/src/test/.*(Faces?|FacadeTest)\\.kt", "AsyncX\\b"),
            new Place("\\w+StressTest\\.kt", "X\\b"),
            new Place("IdleMemoryTest\\.kt", "X[(<.]", CatalogueTest::isMadeAlone),
            new Place("docs/README\\.md", "`X`[^|]* \\|"),
            new Place("CHANGELOG\\.md", "`X`"));

    @TestFactory
    Stream<DynamicTest> primitives_areKnownEverywhere() {
        List<JavaClass> primitives =
                CLASSES.stream().filter(CatalogueTest::isPrimitive).toList();
        assertTrue(primitives.size() >= 10, primitives::toString);
        return primitives.stream()
                .map(primitive -> DynamicTest.dynamicTest(primitive.getSimpleName(), () -> {
                    List<String> faults = PLACES.stream()
                            .flatMap(place -> place.fault(primitive).stream())
                            .toList();
                    assertEquals(List.of(), faults);
                }));
    }

    @TestFactory
    Stream<DynamicTest> coresOfWaiters_areModelChecked() {
        List<JavaClass> cores = CLASSES.stream()
                .filter(type -> type.isAssignableTo("baton.waiting.WaitCore"))
                .filter(type -> !type.isNestedClass())
                .filter(type -> type.getSimpleName().endsWith("Core"))
                .filter(type -> !type.getModifiers().contains(JavaModifier.ABSTRACT))
                .toList();
        assertTrue(cores.size() >= 9, cores::toString);
        return cores.stream()
                .map(core -> DynamicTest.dynamicTest(core.getSimpleName(), () -> {
                    String tests =
                            ".*/lincheck/(.*/)?" + core.getSimpleName().replace("Core", "") + "\\w*LincheckTest\\.kt";
                    assertTrue(SOURCES.keySet().stream().anyMatch(file -> file.matches(tests)), "there is no " + tests);
                }));
    }

    /** A public class of Kotlin whose objects coroutines wait for, and which tells how many do. */
    private static boolean isPrimitive(JavaClass type) {
        return type.getPackageName().matches("baton\\.(sync|channels|resilience)")
                && !type.isInterface()
                && type.getMethods().stream()
                        .anyMatch(method -> method.getName().equals("getWaiting"))
                && type.getMethods().stream().anyMatch(CatalogueTest::isSuspending);
    }

    private static boolean isSuspending(JavaMethod method) {
        return method.getModifiers().contains(JavaModifier.PUBLIC)
                && method.getRawParameterTypes().stream()
                        .anyMatch(type -> type.getName().equals("kotlin.coroutines.Continuation"));
    }

    /** Not by another primitive, as the condition of a mutex is. */
    private static boolean isMadeAlone(JavaClass primitive) {
        String factory = "new" + primitive.getSimpleName();
        return primitive.getPackage().getClasses().stream()
                .flatMap(type -> type.getMethods().stream())
                .noneMatch(method -> method.getName().equals(factory));
    }

    private static boolean isSelectable(JavaClass primitive) {
        return primitive.getMethods().stream()
                .anyMatch(method -> method.getRawReturnType().getPackageName().equals("kotlinx.coroutines.selects"));
    }

    /** The texts of the modules and of the pages that list the primitives, by their paths. */
    private static Map<String, String> sources() {
        Map<String, String> texts = new HashMap<>();
        try {
            for (String page : List.of("../docs/README.md", "../CHANGELOG.md"))
                texts.put(page, Files.readString(Path.of(page)));
            for (String module : List.of("../primitives/src", "../java-interop/src")) {
                List<Path> sources;
                try (Stream<Path> files = Files.walk(Path.of(module))) {
                    sources = files.filter(file -> file.toString().matches(".*\\.(kt|java)"))
                            .toList();
                }
                for (Path file : sources) texts.put(file.toString(), Files.readString(file));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return texts;
    }
}
