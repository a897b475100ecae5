package samples.support;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A text file of items, one path a line; blank lines and lines that begin with # are ignored. */
final class ItemsFile {
    private ItemsFile() {}

    /** Returns the items of {@code file}, or, if it is null, of the file that comes with the sample. */
    static List<String> read(Path file) throws UsageException {
        String name = file == null ? "items.txt" : file.toString();
        List<String> items = new ArrayList<>();
        int number = 0;
        for (String line : file == null ? TextFile.shipped(name) : TextFile.lines(file, "items")) {
            number++;
            if (line.isBlank() || line.stripLeading().startsWith("#")) continue;
            String fault = fault(line);
            if (fault != null) {
                throw new UsageException(
                        String.format(Locale.ROOT, "%s, line %d: %s: '%s'", name, number, fault, TextFile.shown(line)));
            }
            items.add(line);
        }
        if (items.isEmpty()) throw new UsageException(name + " has no items");
        return items;
    }

    private static String fault(String line) {
        if (!line.startsWith("/")) return "an item must be a path that begins with '/'";
        if (line.chars().anyMatch(Character::isWhitespace)) return "an item must not contain spaces";
        try {
            new URI("http://localhost" + line);
            return null;
        } catch (URISyntaxException malformed) {
            return "no path of a URL (" + malformed.getReason() + ")";
        }
    }
}
