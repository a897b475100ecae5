import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Shows for each check that it fails: puts a fault into a copy of the bundle, and looks whether it is found. */
final class SeededFaults {
    private static final String ARTIFACT = "baton-micrometer";

    private interface Change {
        void apply(Bundle copy) throws IOException;
    }

    /** A fault, and a part of the message that must name it. */
    private record Fault(String message, Change change) {}

    private static final List<Fault> FAULTS = faults();

    private SeededFaults() {}

    private static List<Fault> faults() {
        List<Fault> faults = new ArrayList<>();
        for (String ending : FilesCheck.OF_A_JAR) {
            faults.add(new Fault(ending + ": missing", copy -> Files.delete(copy.file(ARTIFACT, ending))));
            faults.add(new Fault(ending + ".asc: missing", copy -> Files.delete(copy.file(ARTIFACT, ending + ".asc"))));
        }
        for (String sum : List.of(".md5", ".sha1", ".sha256", ".sha512")) {
            faults.add(new Fault(".jar" + sum + ": missing", copy -> Files.delete(copy.file(ARTIFACT, ".jar" + sum))));
            faults.add(new Fault(".jar" + sum + ": not the checksum", copy -> write(copy, ".jar" + sum, "0")));
        }
        faults.add(new Fault("-javadoc.jar.asc: not a signature", copy -> Files.copy(
                copy.file(ARTIFACT, ".jar.asc"), replaced(copy.file(ARTIFACT, "-javadoc.jar.asc")))));
        faults.add(new Fault("-tests.jar: not expected", copy -> write(copy, "-tests.jar", "")));

        for (String element : List.of("name", "description", "url", "licenses", "developers", "scm")) {
            String whole = "(?s)<" + element + "\\b[^>]*>.*?</" + element + ">";
            // The first one, which is that of the project: flatten-maven-plugin writes it before any other.
            faults.add(pom("no " + element, whole, ""));
        }
        faults.add(pom("parent is not", "<modelVersion>", "<parent><artifactId>baton-parent</artifactId></parent>$0"));
        faults.add(pom("repositories is not", "<modelVersion>", "<repositories/>$0"));
        faults.add(pom("names a SNAPSHOT", "(<artifactId>baton-primitives</artifactId>\\s*<version>)", "$11-SNAPSHOT"));
        faults.add(pom("wrong version", "<version>", "$00."));
        faults.add(pom("wrong artifactId", "<artifactId>baton-micrometer", "$0s"));
        faults.add(pom("wrong groupId", "<groupId>" + Bundle.GROUP, "$0s"));
        faults.add(pom("dependency kotlin-stdlib: scope test", "<scope>compile", "<scope>test"));
        faults.add(pom("dependency kotlin-stdlib: a jar of tests", "<scope>compile", "<type>test-jar</type>$0"));
        faults.add(pom("dependency kotlin-stdlib: no version", "(?s)(<dependency>.*?)<version>.*?</version>", "$1"));

        faults.add(new Fault(".jar: nothing like", copy -> inJar(copy, ".jar", "baton", null)));
        faults.add(new Fault("-sources.jar: nothing like", copy -> inJar(copy, "-sources.jar", "baton", null)));
        faults.add(new Fault("-javadoc.jar: nothing like", copy -> inJar(copy, "-javadoc.jar", "index.html", null)));
        faults.add(new Fault("is of the tests", copy -> inJar(copy, ".jar", "baton/ATest.class", "")));
        faults.add(new Fault(
                "a.html names a SNAPSHOT", copy -> inJar(copy, "-javadoc.jar", "a.html", "0.1.0-SNAPSHOT")));
        faults.add(new Fault("no module-info", copy -> inJar(copy, ".jar", "module-info.class", null)));
        faults.add(new Fault("baton.micrometer is exported and empty", copy -> inJar(copy, ".jar", "baton/micrometer", null)));

        faults.add(sbom("wrong version", "(<component [^>]*baton-micrometer@.*?<version>)", "$10"));
        faults.add(sbom("licence [Secret] is not in the list", "(.*<id>)Apache-2.0", "$1Secret"));
        faults.add(sbom("micrometer-core is missing", "<name>micrometer-core</name>", "<name>core</name>"));
        return faults;
    }

    private static Fault pom(String message, String pattern, String replacement) {
        return new Fault(".pom: " + message, copy -> edit(copy, ".pom", pattern, replacement));
    }

    private static Fault sbom(String message, String pattern, String replacement) {
        return new Fault(message, copy -> edit(copy, "-cyclonedx.xml", "(?s)" + pattern, replacement));
    }

    /** Returns how many faults were found. Throws if one was not. */
    static int check(Bundle bundle, Bundle second, Set<String> licences) throws IOException, InterruptedException {
        int count = 0;
        for (Fault fault : FAULTS) {
            Bundle copy = copyOf(bundle);
            fault.change().apply(copy);
            demand(fault.message(), BundleCheck.faults(copy, ARTIFACT, licences));
            delete(copy.folder());
            count++;
        }
        Bundle copy = copyOf(bundle);
        edit(copy, Bundle.BOM, ".pom", "baton-test", "baton-tests");
        demand("baton-bom-" + bundle.version() + ".pom: manages", BundleCheck.faults(copy, Bundle.BOM, licences));
        edit(copy, ARTIFACT, ".pom", "<name>", "<name>Other ");
        demand("baton-micrometer-" + bundle.version() + ".pom: the second", BundleCheck.differences(copy, second));
        Files.delete(copy.file(ARTIFACT, ".jar"));
        demand("baton-micrometer-" + bundle.version() + ".jar: the second", BundleCheck.differences(bundle, copy));
        Files.createDirectory(copy.home(ARTIFACT).resolveSibling("0"));
        demand("baton-micrometer: 0 is not of this version", BundleCheck.members(copy, copy.artifacts()));
        Set<String> more = new TreeSet<>(copy.artifacts());
        more.add("baton-more");
        demand("published are", BundleCheck.members(copy, more));
        delete(copy.folder());
        return count + 5;
    }

    private static void demand(String message, List<String> faults) {
        if (faults.stream().noneMatch(fault -> fault.contains(message))) {
            throw new AssertionError("A seeded fault, \"" + message + "\", was not found, only " + faults);
        }
    }

    private static void write(Bundle copy, String ending, String text) throws IOException {
        Files.writeString(copy.file(ARTIFACT, ending), text);
    }

    private static void edit(Bundle copy, String ending, String pattern, String replacement) throws IOException {
        edit(copy, ARTIFACT, ending, pattern, replacement);
    }

    private static void edit(Bundle copy, String artifact, String ending, String pattern, String replacement)
            throws IOException {
        Path file = copy.file(artifact, ending);
        String before = Files.readString(file);
        String after = before.replaceFirst(pattern, replacement);
        if (after.equals(before)) throw new AssertionError(pattern + " is not in " + file);
        Files.writeString(file, after);
    }

    private static Path replaced(Path file) throws IOException {
        Files.delete(file);
        return file;
    }

    /** Writes an entry into a jar, or deletes it with what is below it. */
    private static void inJar(Bundle copy, String ending, String name, String content) throws IOException {
        URI jar = URI.create("jar:" + copy.file(ARTIFACT, ending).toUri());
        try (FileSystem files = FileSystems.newFileSystem(jar, Map.of())) {
            Path entry = files.getPath(name);
            if (content == null) delete(entry);
            else Files.writeString(entry, content);
        }
    }

    private static Bundle copyOf(Bundle bundle) throws IOException {
        Path folder = Files.createTempDirectory("bundle");
        try (Stream<Path> files = Files.walk(bundle.folder())) {
            for (Path file : files.toList()) {
                Path target = folder.resolve(bundle.folder().relativize(file).toString());
                if (!Files.exists(target)) Files.copy(file, target);
            }
        }
        return new Bundle(folder, bundle.version());
    }

    private static void delete(Path path) throws IOException {
        try (Stream<Path> files = Files.walk(path)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> {
                try {
                    Files.delete(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
