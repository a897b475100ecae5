import java.io.IOException;
import java.lang.module.FindException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** The jars hold what their names say. The module of the classes is a valid one, with the version of the release. */
final class JarsCheck {
    private static final Pattern SNAPSHOT = Pattern.compile("\\d-SNAPSHOT");
    private static final Pattern TEXT = Pattern.compile(".*\\.(kt|java|html|js|json|css|txt|MF|properties)");
    private static final Pattern TEST = Pattern.compile(".*(Test|Spec|KotlinxProbe)\\.(class|kt|java)");

    private JarsCheck() {}

    static List<String> faults(Bundle bundle, String artifact) throws IOException {
        List<String> faults = new ArrayList<>();
        for (String ending : List.of(".jar", "-sources.jar", "-javadoc.jar")) {
            Path file = bundle.file(artifact, ending);
            if (!Files.exists(file)) continue;
            for (String fault : content(file, ending)) faults.add(file.getFileName() + ": " + fault);
        }
        Path classes = bundle.file(artifact, ".jar");
        if (!Files.exists(classes)) return faults;
        for (String fault : module(classes, bundle.version())) faults.add(classes.getFileName() + ": " + fault);
        return faults;
    }

    private static List<String> content(Path file, String ending) throws IOException {
        List<String> faults = new ArrayList<>();
        try (ZipFile jar = new ZipFile(file.toFile())) {
            Set<String> names = jar.stream().map(ZipEntry::getName).collect(Collectors.toSet());
            Pattern content = Pattern.compile(
                    switch (ending) {
                        case ".jar" -> "baton/.*\\.class";
                        case "-sources.jar" -> "baton/.*\\.(kt|java)";
                        default -> "index\\.html";
                    });
            if (names.stream().noneMatch(content.asMatchPredicate())) faults.add("nothing like " + content);
            for (String name : names) {
                if (TEST.matcher(name).matches()) faults.add(name + " is of the tests");
                if (!TEXT.matcher(name).matches()) continue;
                String text = new String(jar.getInputStream(jar.getEntry(name)).readAllBytes(), StandardCharsets.UTF_8);
                if (SNAPSHOT.matcher(text).find()) faults.add(name + " names a SNAPSHOT");
            }
        }
        return faults;
    }

    private static Set<String> packages(Path file) throws IOException {
        try (ZipFile jar = new ZipFile(file.toFile())) {
            return jar.stream()
                    .map(ZipEntry::getName)
                    .filter(name -> name.matches(".*/[^/]+\\.class"))
                    .map(name -> name.substring(0, name.lastIndexOf('/')).replace('/', '.'))
                    .collect(Collectors.toSet());
        }
    }

    /** Of a module whose libraries cannot stand on a module path. */
    private static boolean isNamed(Path file) throws IOException {
        try (JarFile jar = new JarFile(file.toFile())) {
            return jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name") != null;
        }
    }

    private static List<String> module(Path jar, String version) throws IOException {
        try {
            ModuleReference found = ModuleFinder.of(jar).findAll().iterator().next();
            ModuleDescriptor module = found.descriptor();
            List<String> faults = new ArrayList<>();
            if (module.isAutomatic() && isNamed(jar)) return faults;
            if (module.isAutomatic()) faults.add("no module-info.class");
            else if (!module.rawVersion().orElse("").equals(version)) faults.add("module " + module.toNameAndVersion());
            Set<String> packages = packages(jar);
            for (ModuleDescriptor.Exports exported : module.exports()) {
                if (!packages.contains(exported.source())) faults.add(exported.source() + " is exported and empty");
            }
            return faults;
        } catch (FindException e) {
            return List.of(e.getMessage());
        }
    }
}
