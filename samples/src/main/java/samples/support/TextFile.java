package samples.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** The lines of a text file, and how messages quote them. */
public final class TextFile {
    private static final int SHOWN = 60;

    /** Of a longer text, only this much is searched for secrets. */
    private static final int MAX_QUOTED = 2_000;

    private static final int MAX_BYTES = 4 << 20;
    private static final int MAX_LINES = 100_000;

    /** Controls move the cursor of a terminal, formats turn its text around, and a separator begins a line. */
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}&&[^\\t\\n]]");

    private TextFile() {}

    /** The lines of {@code file}, which contains {@code things}: at most 4 MB, and 100,000 lines. */
    public static List<String> lines(Path file, String things) throws UsageException {
        try {
            BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
            if (attributes.isDirectory()) throw new UsageException(file + " is a directory, not a file of " + things);
            // Reading a pipe waits for its writer, and a device may have no end.
            if (!attributes.isRegularFile()) throw new UsageException(file + " is not a regular file");
            byte[] bytes;
            try (InputStream in = Files.newInputStream(file)) {
                // The size in the attributes may be outdated, or that of a file that has none, as in /proc.
                bytes = in.readNBytes(MAX_BYTES + 1);
            }
            if (bytes.length > MAX_BYTES) {
                throw new UsageException(file + " is too large: " + atMost(things, MAX_BYTES, "bytes"));
            }
            List<String> lines = text(file, bytes).lines().limit(MAX_LINES + 1).toList();
            if (lines.size() <= MAX_LINES) return lines;
            throw new UsageException(file + ", line " + lines.size() + ": " + atMost(things, MAX_LINES, "lines"));
        } catch (NoSuchFileException missing) {
            throw new UsageException("there is no file " + file);
        } catch (AccessDeniedException denied) {
            throw new UsageException("may not read " + file);
        } catch (IOException failure) {
            throw new UsageException("cannot read " + file + ": " + failure.getMessage());
        }
    }

    private static String atMost(String things, int most, String unit) {
        return String.format(Locale.ROOT, "a file of %s has at most %,d %s", things, most, unit);
    }

    private static String text(Path file, byte[] bytes) throws UsageException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        CharBuffer out = CharBuffer.allocate(bytes.length);
        if (StandardCharsets.UTF_8.newDecoder().decode(in, out, true).isError()) {
            int line = 1;
            for (int i = 0; i < in.position(); i++) if (bytes[i] == '\n') line++;
            throw new UsageException(file + ", line " + line + ": this is not a text in UTF-8");
        }
        String text = out.flip().toString();
        boolean hasByteOrderMark = text.startsWith("\uFEFF");
        return hasByteOrderMark ? text.substring(1) : text;
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

    /** {@code text} in a form that a message can quote, without its secrets. */
    public static String shown(String text) {
        String begin = text.substring(0, Math.min(MAX_QUOTED, text.length()));
        String shown = printable(Redaction.GENERAL.of(begin)).replaceAll("[\\t\\n]", "?");
        return shown.length() <= SHOWN ? shown : shown.substring(0, SHOWN) + "...";
    }

    /** {@code text}, which may have several lines, with a question mark for what a terminal does not print. */
    public static String printable(String text) {
        return UNPRINTABLE.matcher(text).replaceAll("?");
    }

    /** Whether a terminal prints each character of {@code text}. */
    public static boolean isPrintable(String text) {
        return !UNPRINTABLE.matcher(text).find();
    }
}
