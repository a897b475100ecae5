package samples.support;

import java.util.List;

/**
 * The command line options of the uplink that JVMs share.
 *
 * @param store the URL of the store; null for a file of H2.
 * @param requests how many requests are served before the processes end.
 */
public record UplinkOptions(String store, int requests) {
    private static final List<String> STORES = List.of("jdbc:postgresql:", "jdbc:h2:", UplinkJob.REDIS);
    private static final int MAX_REQUESTS = 100_000;

    static CommandOptions command() {
        return new CommandOptions(
                        """
                Four JVMs share five permits for a server that refuses a sixth request. One of them is killed while it is
                served, one is stopped for longer than its lease, and goes on then. The table shows which JVM was served when.
                """,
                        "Exit code: 0 if no request was refused and the stopped JVM was told of its loss, 1 if not, 2 for wrong usage.")
                .text(
                        "--store",
                        "URL",
                        "where the permits are: jdbc:postgresql://HOST/NAME?user=… or redis://HOST (default: a file of H2, removed at the end)")
                .count("--requests", 1, MAX_REQUESTS, "how many requests are served at least (default: 300)");
    }

    static UplinkOptions of(CommandOptions given) throws UsageException {
        String store = given.value("--store", null);
        if (store != null && STORES.stream().noneMatch(store::startsWith)) {
            throw new UsageException("--store must begin with jdbc:postgresql:, jdbc:h2: or redis://, not '"
                    + TextFile.shown(store.replaceFirst("(?s)^((?:jdbc:)?[^:]*:).*", "$1...")) + "'");
        }
        return new UplinkOptions(store, given.value("--requests", 300));
    }
}
