package samples.support;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.BooleanSupplier;

/** The command line and the exit code of the samples. */
public final class Cli {
    private Cli() {}

    /** Fetches all items with the options, and returns the exit code. */
    @FunctionalInterface
    public interface Client {
        int run(List<String> items, Options options) throws IOException;
    }

    /** A sample with options; returns the exit code. */
    @FunctionalInterface
    public interface Program {
        int run(CommandOptions given) throws UsageException, IOException;
    }

    /** Runs {@code client} with the options in {@code args}, and returns the exit code. */
    public static int run(String[] args, PrintStream out, PrintStream err, Client client) {
        return run(args, Options.command(), out, err, given -> {
            Options options = Options.of(given);
            return client.run(ItemsFile.read(options.items()), options);
        });
    }

    /** Runs the jobs of the options in {@code args} twice by {@code worker}, and returns the exit code. */
    public static int runJobs(String[] args, PrintStream out, PrintStream err, Comparison.Worker worker) {
        return run(
                args,
                JobOptions.command(),
                out,
                err,
                given -> new Comparison(JobOptions.of(given), out, err).run(worker));
    }

    /** The code of both parts of the import that differs between the languages. */
    public interface ImportClient extends ImportComparison.Client, QuotaComparison.Client {}

    /** Imports the records of the options in {@code args} by {@code client}, and returns the exit code. */
    public static int runImports(String[] args, PrintStream out, PrintStream err, ImportClient client) {
        return run(args, ImportOptions.command(), out, err, given -> {
            ImportOptions options = ImportOptions.of(given);
            int first = options.hasFirst() ? new ImportComparison(options, out, err).run(client) : 0;
            int second = options.hasSecond() ? new QuotaComparison(options, out, err).run(client) : 0;
            return Math.max(first, second);
        });
    }

    /** Imports the employees of the options in {@code args} twice by {@code client}, and returns the exit code. */
    public static int runEmployees(String[] args, PrintStream out, PrintStream err, EmployeeImports.Client client) {
        return run(
                args,
                EmployeeOptions.command(),
                out,
                err,
                given -> new EmployeeImports(EmployeeOptions.of(given), out, err).run(client));
    }

    /**
     * Counts with the options in {@code args}, in processes that run the {@code main} of {@code program}; returns the
     * exit code.
     */
    public static int runCounter(String[] args, PrintStream out, PrintStream err, Class<?> program) {
        return run(
                args,
                CounterOptions.command(),
                out,
                err,
                given -> new SharedCounts(CounterOptions.of(given), program, out, err).run());
    }

    /**
     * Shares the uplink with the options in {@code args}, between processes that run the {@code main} of {@code program};
     * returns the exit code.
     */
    public static int runUplink(String[] args, PrintStream out, PrintStream err, Class<?> program) {
        return run(
                args,
                UplinkOptions.command(),
                out,
                err,
                given -> new UplinkRun(UplinkOptions.of(given), program, out, err).run());
    }

    /** Runs {@code program} with the values in {@code args} unless they ask for the help, and returns the exit code. */
    public static int run(String[] args, CommandOptions options, PrintStream out, PrintStream err, Program program) {
        try {
            return options.parse(args, out) ? program.run(options) : 0;
        } catch (UsageException wrong) {
            err.println(TextFile.printable(Redaction.GENERAL.of(wrong.getMessage())));
            return 2;
        } catch (IOException noServer) {
            err.println("cannot start the server: " + noServer.getMessage());
            return 1;
        }
    }

    /** Runs a sample without options, and returns the exit code: 0 if {@code sample} returns true. */
    public static int runWithoutOptions(String[] args, PrintStream err, BooleanSupplier sample) {
        if (args.length > 0) {
            err.println("this sample has no options, not even '" + TextFile.shown(args[0]) + "'");
            return 2;
        }
        try {
            return sample.getAsBoolean() ? 0 : 1;
        } catch (UncheckedIOException failure) {
            err.println(failure.getMessage() + ": " + failure.getCause().getMessage());
            return 1;
        }
    }

    /**
     * Ends the JVM at once if the sample has failed; otherwise it ends by itself, because no thread is left running.
     */
    public static void exit(int code) {
        if (code != 0) System.exit(code);
    }
}
