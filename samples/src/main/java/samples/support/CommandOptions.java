package samples.support;

import java.io.PrintStream;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The options of a sample with their bounds, and its help. What is refused is quoted without its secrets. */
public final class CommandOptions {
    private static final int WIDTH = 140;
    private static final Pattern TIME = Pattern.compile("[0-9]{1,6}[smh]");

    private final CommandSpec spec = CommandSpec.create();
    private ParseResult given;

    /**
     * @param description what the sample does.
     * @param exitCode what its exit code means.
     */
    public CommandOptions(String description, String exitCode) {
        spec.usageMessage()
                .width(WIDTH)
                .sortOptions(false)
                .synopsisHeading("")
                .customSynopsis(description.stripTrailing())
                .optionListHeading("%nOptions:%n")
                .footer("", exitCode.stripTrailing());
        spec.parser().collectErrors(true); // For the help behind something wrong.
    }

    public CommandOptions count(String name, int least, int most, String description) {
        return option(name, "N", Integer.class, description, value -> {
            try {
                int count = Integer.parseInt(value);
                if (count >= least && count <= most) return count;
            } catch (NumberFormatException notANumber) {
                // Thrown below.
            }
            throw new TypeConversionException(name + " must be a whole number from " + least + " to " + most + ", not '"
                    + TextFile.shown(value) + "'");
        });
    }

    public CommandOptions time(String name, String description) {
        return option(name, "TIME", Duration.class, description, value -> {
            Duration time = timeOf(value);
            if (time != null) return time;
            throw new TypeConversionException(
                    name + " must be a time like 30s, 5m or 1h, not '" + TextFile.shown(value) + "'");
        });
    }

    public CommandOptions path(String name, String description) {
        return option(name, "FILE", Path.class, description, value -> {
            try {
                return Path.of(value);
            } catch (InvalidPathException impossible) {
                throw new TypeConversionException(name + ": no file can have the name '" + TextFile.shown(value) + "'");
            }
        });
    }

    public CommandOptions text(String name, String label, String description) {
        return option(name, label, String.class, description, value -> value);
    }

    public CommandOptions flag(String name, String description) {
        return add(OptionSpec.builder(name).description(description));
    }

    private <T> CommandOptions option(
            String name, String label, Class<T> type, String description, ITypeConverter<T> converter) {
        return add(OptionSpec.builder(name)
                .paramLabel(label)
                .type(type)
                .description(description)
                .converters((ITypeConverter<T>) value -> {
                    if (value.isEmpty() || value.startsWith("--")) throw new TypeConversionException(missing(name));
                    return converter.convert(value);
                }));
    }

    private CommandOptions add(OptionSpec.Builder option) {
        spec.addOption(option.build());
        return this;
    }

    private static String missing(String name) {
        return name + " needs a value, see --help";
    }

    /** Takes the values of {@code args}. Returns false, with the help printed, if they ask for that. */
    public boolean parse(String[] args, PrintStream out) throws UsageException {
        add(OptionSpec.builder("--help").usageHelp(true).description("this text"));
        CommandLine line = new CommandLine(spec).setExpandAtFiles(false).setOverwrittenOptionsAllowed(true);
        given = line.parseArgs(args);
        if (given.isUsageHelpRequested()) {
            line.usage(out, Ansi.OFF);
            return false;
        }
        if (!given.errors().isEmpty())
            throw new UsageException(message(given.errors().get(0)));
        return true;
    }

    private static String message(Exception wrong) {
        if (wrong instanceof UnmatchedArgumentException unknown) {
            return "unknown option '" + TextFile.shown(unknown.getUnmatched().get(0)) + "', see --help";
        }
        if (wrong instanceof MissingParameterException missing) {
            return missing(((OptionSpec) missing.getMissing().get(0)).longestName());
        }
        return wrong.getCause() == null ? wrong.getMessage() : wrong.getCause().getMessage();
    }

    /** The value of the option, {@code otherwise} if it is not given. */
    public <T> T value(String name, T otherwise) {
        return given.matchedOptionValue(name, otherwise);
    }

    /** A time like 30s, 5m or 1h, of a second or more; null if {@code word} is none. */
    public static Duration timeOf(String word) {
        if (!TIME.matcher(word).matches()) return null;
        Duration time = Duration.parse("PT" + word);
        return time.isZero() ? null : time;
    }
}
