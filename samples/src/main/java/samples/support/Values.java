package samples.support;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Iterator;

/** The values of options, taken from the words of a command line. */
final class Values {
    private Values() {}

    static UsageException unknown(String option) {
        return new UsageException("unknown option '" + option + "', see --help");
    }

    private static String next(String option, Iterator<String> words) throws UsageException {
        String value = words.hasNext() ? words.next() : "";
        if (value.isEmpty() || value.startsWith("--")) throw new UsageException(option + " needs a value, see --help");
        return value;
    }

    static Path path(String option, Iterator<String> words) throws UsageException {
        String value = next(option, words);
        try {
            return Path.of(value);
        } catch (InvalidPathException impossible) {
            throw new UsageException(option + ": no file can have the name '" + ItemsFile.shown(value) + "'");
        }
    }

    static int count(String option, Iterator<String> words) throws UsageException {
        return count(option, words, 1, Integer.MAX_VALUE);
    }

    static int count(String option, Iterator<String> words, int least, int most) throws UsageException {
        String value = next(option, words);
        try {
            int count = Integer.parseInt(value);
            if (count >= least && count <= most) return count;
        } catch (NumberFormatException notANumber) {
            // Answered below.
        }
        throw new UsageException(
                option + " must be a whole number from " + least + " to " + most + ", not '" + value + "'");
    }
}
