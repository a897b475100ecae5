package samples.support.uptime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import samples.support.TextFile;
import samples.support.UsageException;

/**
 * A text file of endpoints, one a line, that may be edited at any time. The rest of a line after a # is a comment. At
 * the start a line that is wrong is left out; later a file with a wrong line is not taken over.
 */
public final class EndpointsFile {
    private static final String SHIPPED = "endpoints.txt";
    private static final Pattern COMMENT = Pattern.compile("(^|\\s)#.*");
    private static final int MAX_LENGTH = 2_000;
    private static final int MAX_ENDPOINTS = 10_000;

    /** The number of wrong lines that are reported one by one. */
    private static final int MAX_FAULTS = 20;

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
     * Returns the endpoints of the right lines. Passes each fault to {@code faults} as one line; an empty list has a
     * fault that gives the reason.
     */
    public List<Endpoint> read(Consumer<String> faults) {
        return read(faults, false);
    }

    /** The same after an edit, which counts as a whole: one wrong line, and the list is empty. */
    public List<Endpoint> readEdited(Consumer<String> faults) {
        return read(faults, true);
    }

    private List<Endpoint> read(Consumer<String> faults, boolean isWhole) {
        version = look();
        List<String> lines;
        try {
            lines = file == null ? TextFile.shipped(SHIPPED) : TextFile.lines(file, "endpoints");
        } catch (UsageException unreadable) {
            faults.accept(unreadable.getMessage());
            return List.of();
        }
        List<String> wrong = new ArrayList<>();
        List<Endpoint> endpoints = parse(lines, wrong);
        for (String fault : wrong.subList(0, Math.min(MAX_FAULTS, wrong.size()))) {
            faults.accept(this + ", " + fault + (isWhole ? "" : " is left out"));
        }
        if (wrong.size() > MAX_FAULTS) {
            faults.accept(this + ": " + (wrong.size() - MAX_FAULTS) + " more lines are wrong");
        }
        if (endpoints.isEmpty()) faults.accept(this + " has no endpoint");
        if (!isWhole || wrong.isEmpty()) return endpoints;
        faults.accept(this + " was edited, but because of what is wrong the endpoints stay as they were");
        return List.of();
    }

    /** Adds what is wrong with a line to {@code wrong}. */
    private static List<Endpoint> parse(List<String> lines, List<String> wrong) {
        List<Endpoint> endpoints = new ArrayList<>();
        Map<String, Integer> numbers = new HashMap<>();
        for (int number = 1; number <= lines.size(); number++) {
            String line = lines.get(number - 1);
            try {
                if (line.length() > MAX_LENGTH) throw new UsageException("a line has at most 2,000 characters");
                line = COMMENT.matcher(line).replaceFirst("");
                if (line.isBlank()) continue;
                Endpoint endpoint = Endpoint.parse(line);
                Integer other = numbers.putIfAbsent(endpoint.name(), number);
                if (other != null) throw new UsageException("line " + other + " has the same name");
                if (endpoints.size() == MAX_ENDPOINTS) throw new UsageException("there are 10,000 endpoints before it");
                endpoints.add(endpoint);
            } catch (UsageException fault) {
                wrong.add("line " + number + ": " + fault.getMessage() + ": '" + TextFile.shown(line.strip()) + "'");
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
