import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * Prints how many tests a build has run, and the ten test classes that took longest. Run by Maven, see the pom; its
 * arguments are the root of the project and the instant at which the build began.
 */
public final class TestSummary {
    private record Suite(String module, String name, int tests, int skipped, double seconds) {}

    private TestSummary() {}

    public static void main(String[] args) throws IOException {
        FileTime begin = FileTime.from(Instant.parse(args[1]));
        List<Suite> suites = new ArrayList<>();
        try (Stream<Path> modules = Files.walk(Path.of(args[0]), 2)) {
            for (Path module : modules.sorted().toList()) {
                Path reports = module.resolve("target/surefire-reports");
                if (Files.isDirectory(reports)) read(module.getFileName().toString(), reports, begin, suites);
            }
        }
        int tests = suites.stream().mapToInt(Suite::tests).sum();
        int skipped = suites.stream().mapToInt(Suite::skipped).sum();
        double seconds = suites.stream().mapToDouble(Suite::seconds).sum();
        System.out.printf(
                Locale.ROOT, "%n%,d tests in %,d classes, %d skipped, %.0f s. The slowest classes:%n",
                tests, suites.size(), skipped, seconds);
        suites.stream()
                .sorted(Comparator.comparingDouble(Suite::seconds).reversed())
                .limit(10)
                .forEach(suite -> System.out.printf(
                        Locale.ROOT, "%8.1f s  %s (%s)%n", suite.seconds, suite.name, suite.module));
    }

    /** Reports that are older than {@code begin} belong to another build. */
    private static void read(String module, Path reports, FileTime begin, List<Suite> suites) throws IOException {
        try (Stream<Path> files = Files.list(reports)) {
            for (Path file : files.toList()) {
                boolean isReport = file.getFileName().toString().matches("TEST-.*\\.xml");
                if (isReport && Files.getLastModifiedTime(file).compareTo(begin) >= 0) suites.add(read(module, file));
            }
        }
    }

    /** Reads the attributes of the root element alone. */
    private static Suite suite(String module, XMLStreamReader xml) {
        return new Suite(
                module,
                xml.getAttributeValue(null, "name"),
                Integer.parseInt(xml.getAttributeValue(null, "tests")),
                Integer.parseInt(xml.getAttributeValue(null, "skipped")),
                Double.parseDouble(xml.getAttributeValue(null, "time").replace(",", "")));
    }

    private static Suite read(String module, Path file) throws IOException {
        try (var in = Files.newInputStream(file)) {
            XMLStreamReader xml = XMLInputFactory.newFactory().createXMLStreamReader(in);
            xml.nextTag();
            return suite(module, xml);
        } catch (XMLStreamException e) {
            throw new IOException(file.toString(), e);
        }
    }
}
