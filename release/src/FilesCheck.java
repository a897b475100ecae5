import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The files of an artifact are complete, and none is there besides. Signatures and checksums fit them. */
final class FilesCheck {
    static final List<String> OF_A_JAR = List.of(".pom", ".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.xml");
    static final List<String> OF_A_BOM = List.of(".pom");
    private static final Map<String, String> CHECKSUMS =
            Map.of(".md5", "MD5", ".sha1", "SHA-1", ".sha256", "SHA-256", ".sha512", "SHA-512");

    private FilesCheck() {}

    static List<String> faults(Bundle bundle, String artifact) throws IOException, InterruptedException {
        List<String> faults = new ArrayList<>();
        Set<String> expected = new TreeSet<>();
        for (String ending : artifact.equals(Bundle.BOM) ? OF_A_BOM : OF_A_JAR) {
            Path file = bundle.file(artifact, ending);
            String name = file.getFileName().toString();
            expected.add(name);
            expected.add(name + ".asc");
            CHECKSUMS.keySet().forEach(checksum -> expected.add(name + checksum));
            if (!Files.exists(file)) continue;
            if (Files.exists(file.resolveSibling(name + ".asc")) && !isSigned(file)) {
                faults.add(name + ".asc: not a signature of this file");
            }
            for (Map.Entry<String, String> checksum : CHECKSUMS.entrySet()) {
                Path sum = file.resolveSibling(name + checksum.getKey());
                if (!Files.exists(sum)) continue;
                boolean fits = Files.readString(sum).strip().equals(digest(file, checksum.getValue()));
                if (!fits) faults.add(sum.getFileName() + ": not the checksum of this file");
            }
        }
        Set<String> found;
        try (Stream<Path> files = Files.list(bundle.home(artifact))) {
            found = files.map(path -> path.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        }
        for (String name : expected) if (!found.contains(name)) faults.add(name + ": missing");
        for (String name : found) if (!expected.contains(name)) faults.add(name + ": not expected here");
        return faults;
    }

    /** The key is the one of {@code GNUPGHOME}. */
    private static boolean isSigned(Path file) throws IOException, InterruptedException {
        return new ProcessBuilder("gpg", "--batch", "--quiet", "--verify", file + ".asc", file.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor()
                == 0;
    }

    static String digest(Path file, String algorithm) throws IOException {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(Files.readAllBytes(file)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
