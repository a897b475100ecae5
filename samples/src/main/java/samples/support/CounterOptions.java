package samples.support;

import java.util.Iterator;
import java.util.List;

/**
 * The command line options of the counter that processes share.
 *
 * @param processes the number of processes.
 * @param increments how many times each of them adds 1.
 */
public record CounterOptions(int processes, int increments) {
    public static final String HELP = """
            Counts in memory that several processes share: each adds 1 so many times. First with a lock; then with a lock,
            and one process is killed while it holds it: the next holder is told, and repairs the counter; last without
            a lock, where increments get lost. The file is in /dev/shm if that is there, and is removed at the end.

            Options:
              --processes N      how many processes (default: 4)
              --increments N     how many times each of them adds 1 (default: 200)
              --help             this text

            Exit code: 0 if no increment was lost with a lock, 1 if not, 2 for wrong usage.""";

    private static final int MAX_PROCESSES = 32;
    private static final int MAX_INCREMENTS = 10_000;

    static CounterOptions parse(String[] args) throws UsageException {
        int processes = 4;
        int increments = 200;
        Iterator<String> words = List.of(args).iterator();
        while (words.hasNext()) {
            String option = words.next();
            switch (option) {
                case "--processes" -> processes = Values.count(option, words, 2, MAX_PROCESSES);
                case "--increments" -> increments = Values.count(option, words, 1, MAX_INCREMENTS);
                default -> throw Values.unknown(option);
            }
        }
        return new CounterOptions(processes, increments);
    }
}
