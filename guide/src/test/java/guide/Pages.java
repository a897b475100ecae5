package guide;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The Markdown files of the repository. */
public final class Pages {
    public static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Set<String> SKIPPED = Set.of(".git", ".idea", "target");

    private Pages() {}

    public static List<Path> all() throws IOException {
        return files(ROOT, "md");
    }

    /** Returns the files below a folder that git would track, sorted, with one of the endings. */
    static List<Path> files(Path folder, String... endings) throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                boolean isSkipped = SKIPPED.contains(directory.getFileName().toString());
                return isSkipped ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                for (String ending : endings) if (file.toString().endsWith("." + ending)) found.add(file);
                return FileVisitResult.CONTINUE;
            }
        });
        return found.stream().sorted().toList();
    }
}
