package samples.support;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.BooleanSupplier;

/** What the samples do around what they show: the command line and the exit code. */
public final class Cli {
    private Cli() {}

    /** Fetches all items as the options say; the answer is the exit code. */
    @FunctionalInterface
    public interface Client {
        int run(List<String> items, Options options) throws IOException;
    }

    /** What is left to do when nobody asked for help; the answer is the exit code. */
    @FunctionalInterface
    private interface Program {
        int run() throws UsageException, IOException;
    }

    /** Runs {@code client} with what {@code args} say; the answer is the exit code. */
    public static int run(String[] args, PrintStream out, PrintStream err, Client client) {
        return run(args, Options.HELP, out, err, () -> {
            Options options = Options.parse(args);
            return client.run(ItemsFile.read(options.items()), options);
        });
    }

    /** Has {@code worker} do the jobs that {@code args} say, twice; the answer is the exit code. */
    public static int runJobs(String[] args, PrintStream out, PrintStream err, Comparison.Worker worker) {
        return run(args, JobOptions.HELP, out, err, () -> new Comparison(JobOptions.parse(args), out, err).run(worker));
    }

    private static int run(String[] args, String help, PrintStream out, PrintStream err, Program program) {
        if (List.of(args).contains("--help")) {
            out.println(help);
            return 0;
        }
        try {
            return program.run();
        } catch (UsageException wrong) {
            err.println(wrong.getMessage());
            return 2;
        } catch (IOException noServer) {
            err.println("cannot start the server: " + noServer.getMessage());
            return 1;
        }
    }

    /** Runs a sample without options; the answer is the exit code, 0 if {@code sample} says true. */
    public static int runWithoutOptions(String[] args, PrintStream err, BooleanSupplier sample) {
        if (args.length > 0) {
            err.println("this sample has no options, not even '" + args[0] + "'");
            return 2;
        }
        try {
            return sample.getAsBoolean() ? 0 : 1;
        } catch (UncheckedIOException failure) {
            err.println(failure.getMessage() + ": " + failure.getCause().getMessage());
            return 1;
        }
    }

    /** Ends the JVM at once if something went wrong; otherwise it ends by itself, as nothing is left running. */
    public static void exit(int code) {
        if (code != 0) System.exit(code);
    }
}
