package samples.support;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.regex.Pattern;

/** The values of options, taken from the words of a command line. */
public final class Values {
    private static final Pattern TIME = Pattern.compile("[0-9]{1,6}[smh]");

    private Values() {}

    public static UsageException unknown(String option) {
        return new UsageException("unknown option '" + TextFile.shown(option) + "', see --help");
    }

    private static String next(String option, Iterator<String> words) throws UsageException {
        String value = words.hasNext() ? words.next() : "";
        if (value.isEmpty() || value.startsWith("--")) throw new UsageException(option + " needs a value, see --help");
        return value;
    }

    public static String word(String option, Iterator<String> words) throws UsageException {
        return next(option, words);
    }

    public static Path path(String option, Iterator<String> words) throws UsageException {
        String value = next(option, words);
        try {
            return Path.of(value);
        } catch (InvalidPathException impossible) {
            throw new UsageException(option + ": no file can have the name '" + TextFile.shown(value) + "'");
        }
    }

    public static int count(String option, Iterator<String> words) throws UsageException {
        return count(option, words, 1, Integer.MAX_VALUE);
    }

    public static int count(String option, Iterator<String> words, int least, int most) throws UsageException {
        String value = next(option, words);
        try {
            int count = Integer.parseInt(value);
            if (count >= least && count <= most) return count;
        } catch (NumberFormatException notANumber) {
            // Thrown below.
        }
        throw new UsageException(option + " must be a whole number from " + least + " to " + most + ", not '"
                + TextFile.shown(value) + "'");
    }

    public static Duration time(String option, Iterator<String> words) throws UsageException {
        String value = next(option, words);
        Duration time = time(value);
        if (time != null) return time;
        throw new UsageException(option + " must be a time like 30s, 5m or 1h, not '" + TextFile.shown(value) + "'");
    }

    /** A time like 30s, 5m or 1h, of a second or more; null if {@code word} is none. */
    public static Duration time(String word) {
        if (!TIME.matcher(word).matches()) return null;
        Duration time = Duration.parse("PT" + word);
        return time.isZero() ? null : time;
    }
}
