package samples.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/** The lines of a text file, and how messages quote them. */
public final class TextFile {
    private static final int SHOWN = 60;

    private TextFile() {}

    /** The lines of {@code file}, which contains {@code things}. */
    public static List<String> lines(Path file, String things) throws UsageException {
        try {
            if (Files.isDirectory(file)) throw new UsageException(file + " is a directory, not a file of " + things);
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

    /** The lines of the file {@code name} that comes with the samples. */
    public static List<String> shipped(String name) {
        try (var in = new BufferedReader(
                new InputStreamReader(TextFile.class.getResourceAsStream("/" + name), StandardCharsets.UTF_8))) {
            return in.lines().toList();
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    /** {@code text} in a form that a message can quote. */
    public static String shown(String text) {
        String printable = text.replaceAll("\\p{Cntrl}", "?");
        return printable.length() <= SHOWN ? printable : printable.substring(0, SHOWN) + "...";
    }
}
