package baton.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The classes that a Java editor offers: the public, not synthetic ones in the exported packages of the published modules.
 * {@code api/visible-classes.txt} lists them; {@code -Dapi.update=true} writes it. Kotlin's {@code internal} classes are
 * public to Java, so they are in packages that are not exported. Where a file holds nothing but internal functions,
 * {@code @file:JvmSynthetic} hides its class.
 *
 * <p>Those that are left implement a sealed interface of their package, make the objects of it that they return, or are
 * nested in or implemented by a class of the API.
 */
@Tag("any-jdk")
class VisibleClassesTest {
    private static final Path LIST = Path.of("api", "visible-classes.txt");
    private static final Pattern DUMPED = Pattern.compile("^public .*?class (\\S+) ", Pattern.MULTILINE);

    @Test
    void visibleClasses_areThoseOfTheList() throws Exception {
        List<String> lines = new ArrayList<>();
        for (String module : List.of(
                "primitives",
                "shared",
                "distributed",
                "distributed-redis",
                "distributed-zookeeper",
                "scheduler",
                "micrometer",
                "test",
                "java-interop")) addTo(lines, module);
        if (Boolean.getBoolean("api.update")) Files.write(LIST, lines);
        assertEquals(String.join("\n", Files.readAllLines(LIST)), String.join("\n", lines), "see CONTRIBUTING.md");
    }

    private static void addTo(List<String> lines, String module) throws Exception {
        Path classes = Path.of("..", module, "target", "classes");
        Set<String> publicInKotlin = publicInKotlin(module);
        Set<String> published = new TreeSet<>();
        Set<String> internal = new TreeSet<>();
        for (String name : visible(module, classes)) {
            (publicInKotlin.contains(name) ? published : internal).add(name);
        }
        lines.add(module + ": " + published.size() + " of the API");
        published.forEach(name -> lines.add("    " + name));
        lines.add(module + ": " + internal.size() + " internal to Kotlin or to Baton");
        internal.forEach(name -> lines.add("    " + name));
    }

    /** {@link ApiDumpTest} leaves out what is internal. Its file may be about to change, so this asks for the API anew. */
    private static Set<String> publicInKotlin(String module) throws IOException {
        Set<String> found = new HashSet<>();
        DUMPED.matcher(ApiDumpTest.publicApi(module))
                .results()
                .forEach(match -> found.add(match.group(1).replace('/', '.')));
        return found;
    }

    private static List<String> visible(String module, Path classes) throws Exception {
        List<String> found = new ArrayList<>();
        // A module without a descriptor, for the class path alone, has one package.
        List<String> packages = Files.exists(classes.resolve("module-info.class"))
                ? exportedPackages(classes)
                : List.of("baton." + module.replace('-', '.'));
        for (String exported : packages) {
            try (Stream<Path> files = Files.list(classes.resolve(exported.replace('.', '/')))) {
                for (Path file : files.toList()) {
                    String name = file.getFileName().toString();
                    if (!name.endsWith(".class") || name.equals("package-info.class")) continue;
                    String simpleName = name.substring(0, name.length() - ".class".length());
                    Class<?> type = Class.forName(exported + "." + simpleName, false, loader());
                    if (isVisible(type)) found.add(type.getName());
                }
            }
        }
        return found;
    }

    private static List<String> exportedPackages(Path classes) throws IOException {
        try (InputStream descriptor = Files.newInputStream(classes.resolve("module-info.class"))) {
            return ModuleDescriptor.read(descriptor).exports().stream()
                    .filter(export -> !export.isQualified())
                    .map(ModuleDescriptor.Exports::source)
                    .toList();
        }
    }

    private static boolean isVisible(Class<?> type) {
        if (type.isSynthetic() || type.isAnonymousClass() || type.isLocalClass()) return false;
        for (Class<?> t = type; t != null; t = t.getEnclosingClass()) {
            if (!Modifier.isPublic(t.getModifiers())) return false;
        }
        return true;
    }

    private static ClassLoader loader() {
        return VisibleClassesTest.class.getClassLoader();
    }
}
