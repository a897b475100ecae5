package samples.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A text file of items, one path a line; blank lines and lines that begin with # are ignored. */
final class ItemsFile {
    private static final int SHOWN = 60;

    private ItemsFile() {}

    /** Returns the items of {@code file}, or, if it is null, of the file that comes with the sample. */
    static List<String> read(Path file) throws UsageException {
        String name = file == null ? "items.txt" : file.toString();
        List<String> items = new ArrayList<>();
        int number = 0;
        for (String line : file == null ? shipped() : lines(file)) {
            number++;
            if (line.isBlank() || line.stripLeading().startsWith("#")) continue;
            String fault = fault(line);
            if (fault != null) {
                throw new UsageException(
                        String.format(Locale.ROOT, "%s, line %d: %s: '%s'", name, number, fault, shown(line)));
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

    /** {@code line} in a form that a message can quote. */
    static String shown(String line) {
        String printable = line.replaceAll("\\p{Cntrl}", "?");
        return printable.length() <= SHOWN ? printable : printable.substring(0, SHOWN) + "...";
    }

    private static List<String> lines(Path file) throws UsageException {
        try {
            if (Files.isDirectory(file)) throw new UsageException(file + " is a directory, not a file of items");
            return Files.readAllLines(file);
        } catch (NoSuchFileException missing) {
            throw new UsageException("there is no file " + file);
        } catch (AccessDeniedException denied) {
            throw new UsageException("may not read " + file);
        } catch (CharacterCodingException binary) {
            throw new UsageException(file + " is not a text in UTF-8");
        } catch (IOException failure) {
            throw new UsageException("cannot read " + file + ": " + failure.getMessage());
        }
    }

    private static List<String> shipped() {
        try (var in = new BufferedReader(
                new InputStreamReader(ItemsFile.class.getResourceAsStream("/items.txt"), StandardCharsets.UTF_8))) {
            return in.lines().toList();
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }
}
