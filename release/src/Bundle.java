import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The folder of a release, in the layout of a repository. */
record Bundle(Path folder, String version) {
    static final String GROUP = "io.github.baton-kt";
    static final String BOM = "baton-bom";

    /** Returns the artifacts that are there, sorted. */
    Set<String> artifacts() throws IOException {
        try (Stream<Path> folders = Files.list(group())) {
            return folders.map(path -> path.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        }
    }

    Path group() {
        return folder.resolve(GROUP.replace('.', '/'));
    }

    Path home(String artifact) {
        return group().resolve(artifact).resolve(version);
    }

    /** Returns the file of an artifact that ends like {@code .pom} or {@code -sources.jar}. */
    Path file(String artifact, String ending) {
        return home(artifact).resolve(artifact + "-" + version + ending);
    }
}
