package samples.support;

import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A bank with asynchronous calls. It has one thread that runs a queue of blocks, like the event loop of a server.
 * Blocks on it have no data races, but a transfer interleaves with others wherever it waits for a result.
 */
public final class Bank implements AutoCloseable {
    private static final String PAYER = "alice";
    private static final long TOTAL = 150;

    private final ExecutorService loop = Executors.newSingleThreadExecutor();
    private final Map<String, Long> balances = new TreeMap<>(Map.of(PAYER, TOTAL, "bob", 0L, "carol", 0L));

    /** The bank's thread. Transfers that start on it start one after another, before the bank's first result. */
    public ExecutorService loop() {
        return loop;
    }

    public CompletableFuture<Long> balance(String account) {
        return CompletableFuture.supplyAsync(() -> balances.get(account), loop);
    }

    public CompletableFuture<Void> setBalance(String account, long balance) {
        return CompletableFuture.runAsync(() -> balances.put(account, balance), loop);
    }

    /**
     * Prints the outcomes of transfers of {@code amount} from alice, and returns whether the books still balance. Call
     * it on the loop, or when no transfer runs.
     */
    public boolean audit(PrintStream out, String title, long amount, List<Boolean> accepted) {
        long paid = amount * accepted.stream().filter(done -> done).count();
        long total = balances.values().stream().mapToLong(Long::longValue).sum();
        out.println(title);
        for (int i = 0; i < accepted.size(); i++) {
            out.println("  transfer-" + (i + 1) + " of " + amount + ": " + (accepted.get(i) ? "done" : "refused"));
        }
        out.println("  balances: " + balances);
        out.println("  total money: " + TOTAL + " before, " + total + " after");
        out.println("  " + PAYER + " had " + TOTAL + " and paid " + paid + ": "
                + (paid > TOTAL ? "overdrawn by " + (paid - TOTAL) : "not overdrawn"));
        out.println();
        return total == TOTAL && paid <= TOTAL;
    }

    @Override
    public void close() {
        loop.shutdown();
    }
}
