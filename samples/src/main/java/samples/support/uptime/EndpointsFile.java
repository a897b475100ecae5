package samples.support.uptime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import samples.support.TextFile;
import samples.support.UsageException;

/**
 * A text file of endpoints, one a line, that may be edited at any time. The rest of a line after a # is a comment. A
 * line that is wrong is left out.
 */
public final class EndpointsFile {
    private static final String SHIPPED = "endpoints.txt";

    private final Path file;
    private Version version;

    /** The attributes of which an edit changes at least one. The key is null where the file system has none. */
    private record Version(FileTime modified, long size, Object key) {}

    /** {@code file} is null for the file that comes with the sample. */
    EndpointsFile(Path file) {
        this.file = file;
    }

    @Override
    public String toString() {
        return file == null ? SHIPPED : file.toString();
    }

    /**
     * Returns the endpoints. Passes each fault to {@code faults} as one line; an empty list has a fault that gives the
     * reason.
     */
    public List<Endpoint> read(Consumer<String> faults) {
        version = look();
        List<String> lines;
        try {
            lines = file == null ? TextFile.shipped(SHIPPED) : TextFile.lines(file, "endpoints");
        } catch (UsageException unreadable) {
            faults.accept(unreadable.getMessage());
            return List.of();
        }
        List<Endpoint> endpoints = parse(lines, faults);
        if (endpoints.isEmpty()) faults.accept(this + " has no endpoint");
        return endpoints;
    }

    private List<Endpoint> parse(List<String> lines, Consumer<String> faults) {
        List<Endpoint> endpoints = new ArrayList<>();
        Map<String, Integer> numbers = new LinkedHashMap<>();
        for (int number = 1; number <= lines.size(); number++) {
            String line = lines.get(number - 1).replaceFirst("(^|\\s)#.*", "");
            if (line.isBlank()) continue;
            try {
                Endpoint endpoint = Endpoint.parse(line);
                Integer other = numbers.putIfAbsent(endpoint.name(), number);
                if (other != null) throw new UsageException("line " + other + " has the same name");
                endpoints.add(endpoint);
            } catch (UsageException wrong) {
                String quoted = TextFile.shown(line.strip());
                faults.accept(this + ", line " + number + ": " + wrong.getMessage() + ": '" + quoted + "' is left out");
            }
        }
        return endpoints;
    }

    /** Whether it was edited since it was read. */
    public boolean isEdited() {
        return !Objects.equals(version, look());
    }

    /** Null if there is no such file. */
    private Version look() {
        if (file == null) return null;
        try {
            var attributes = Files.readAttributes(file, BasicFileAttributes.class);
            return new Version(attributes.lastModifiedTime(), attributes.size(), attributes.fileKey());
        } catch (IOException missing) {
            return null;
        }
    }
}
