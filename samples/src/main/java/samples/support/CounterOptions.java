package samples.support;

/**
 * The command line options of the counter that processes share.
 *
 * @param processes the number of processes.
 * @param increments how many times each of them adds 1.
 */
public record CounterOptions(int processes, int increments) {
    private static final int MAX_PROCESSES = 32;
    private static final int MAX_INCREMENTS = 10_000;

    static CommandOptions command() {
        return new CommandOptions(
                        """
                Counts in memory that several processes share: each adds 1 so many times. First with a lock; then with a lock,
                and one process is killed while it holds it: the next holder is told, and repairs the counter; last without
                a lock, where increments get lost. The file is in /dev/shm if that is there, and is removed at the end.
                """, "Exit code: 0 if no increment was lost with a lock, 1 if not, 2 for wrong usage.")
                .count("--processes", 2, MAX_PROCESSES, "how many processes (default: 4)")
                .count("--increments", 1, MAX_INCREMENTS, "how many times each of them adds 1 (default: 200)");
    }

    static CounterOptions of(CommandOptions given) {
        return new CounterOptions(given.value("--processes", 4), given.value("--increments", 200));
    }
}
