import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Checks the folder of a release. Its arguments are that folder, the folder of a second build, the version, the list of
 * allowed licences, and the artifacts that are published. Prints the licences of all dependencies and the faults.
 */
public final class BundleCheck {
    private BundleCheck() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        Bundle bundle = new Bundle(Path.of(args[0]), args[2]);
        Bundle second = new Bundle(Path.of(args[1]), args[2]);
        Set<String> licences = licences(Path.of(args[3]));
        Set<String> artifacts = new TreeSet<>(List.of(args).subList(4, args.length));

        List<String> faults = new ArrayList<>(members(bundle, artifacts));
        for (String artifact : artifacts) faults.addAll(faults(bundle, artifact, licences));
        faults.addAll(differences(bundle, second));
        faults.forEach(System.out::println);
        if (!faults.isEmpty()) System.exit(1);

        Set<String> dependencies = new TreeSet<>();
        for (String artifact : artifacts) {
            if (!artifact.equals(Bundle.BOM)) dependencies.addAll(SbomCheck.lines(bundle, artifact));
        }
        System.out.println("Licences of the dependencies:");
        dependencies.forEach(line -> System.out.println("    " + line));
        int seeded = SeededFaults.check(bundle, second, licences);
        System.out.printf("%d artifacts, no fault; each of %d seeded faults was found%n", artifacts.size(), seeded);
    }

    static List<String> faults(Bundle bundle, String artifact, Set<String> licences)
            throws IOException, InterruptedException {
        if (!Files.isDirectory(bundle.home(artifact))) return List.of();
        List<String> faults = new ArrayList<>(FilesCheck.faults(bundle, artifact));
        faults.addAll(PomCheck.faults(bundle, artifact));
        faults.addAll(JarsCheck.faults(bundle, artifact));
        faults.addAll(SbomCheck.faults(bundle, artifact, licences));
        return faults;
    }

    /** The published artifacts are there, in this version alone, and nothing else is. */
    static List<String> members(Bundle bundle, Set<String> artifacts) throws IOException {
        if (!bundle.artifacts().equals(artifacts)) {
            return List.of("The bundle has " + bundle.artifacts() + ", published are " + artifacts);
        }
        List<String> faults = new ArrayList<>();
        for (String artifact : artifacts) {
            try (Stream<Path> versions = Files.list(bundle.home(artifact).getParent())) {
                versions.map(path -> path.getFileName().toString())
                        .filter(name -> !name.equals(bundle.version()))
                        .forEach(name -> faults.add(artifact + ": " + name + " is not of this version"));
            }
        }
        return faults;
    }

    /** Two builds of one commit make the same bytes. Their signatures differ. */
    static List<String> differences(Bundle first, Bundle second) throws IOException {
        TreeMap<String, String> one = digests(first);
        TreeMap<String, String> other = digests(second);
        Set<String> names = new TreeSet<>(one.keySet());
        names.addAll(other.keySet());
        return names.stream()
                .filter(name -> !one.getOrDefault(name, "").equals(other.get(name)))
                .map(name -> name + ": the second build made " + (other.containsKey(name) ? "other bytes" : "none"))
                .toList();
    }

    private static TreeMap<String, String> digests(Bundle bundle) throws IOException {
        TreeMap<String, String> digests = new TreeMap<>();
        for (String artifact : bundle.artifacts()) {
            try (Stream<Path> files = Files.list(bundle.home(artifact))) {
                for (Path file : files.filter(f -> f.toString().matches(".*\\.(pom|jar|xml)")).toList()) {
                    digests.put(file.getFileName().toString(), FilesCheck.digest(file, "SHA-256"));
                }
            }
        }
        return digests;
    }

    private static Set<String> licences(Path list) throws IOException {
        return Files.readAllLines(list).stream().filter(line -> !line.startsWith("#")).collect(Collectors.toSet());
    }
}
