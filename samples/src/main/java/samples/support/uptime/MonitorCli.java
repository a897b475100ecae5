package samples.support.uptime;

import java.io.PrintStream;
import samples.support.Cli;
import samples.support.Progress;

/** The command line of the uptime monitor. */
public final class MonitorCli {
    private MonitorCli() {}

    /** Watches the endpoints of the file, and returns the exit code. {@code page} is null if there is to be none. */
    @FunctionalInterface
    public interface Monitor {
        int run(MonitorOptions options, EndpointsFile file, DemoServer server, MonitorReport report, MonitorPage page);
    }

    /** Runs {@code monitor} with the options in {@code args}, and returns the exit code. */
    public static int run(String[] args, PrintStream out, PrintStream err, Monitor monitor) {
        return Cli.run(args, MonitorOptions.command(), out, err, given -> {
            MonitorOptions options = MonitorOptions.of(given);
            EndpointsFile file = new EndpointsFile(options.endpoints());
            MonitorReport report = new MonitorReport(options, out, err, Progress.isLive(out));
            return RedactedLog.during(report::safe, () -> {
                try (DemoServer server = DemoServer.start(options.length());
                        MonitorPage page = options.port() == null ? null : MonitorPage.open(options.port(), report)) {
                    return monitor.run(options, file, server, report, page);
                }
            });
        });
    }
}
