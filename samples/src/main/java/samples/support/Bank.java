package samples.support;

import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A bank that answers every call later. It has one thread that works off a queue, like the event loop of a server; what
 * runs on it meets no data race, and meets the others at every answer it waits for.
 */
public final class Bank implements AutoCloseable {
    private static final String PAYER = "alice";
    private static final long TOTAL = 150;

    private final ExecutorService loop = Executors.newSingleThreadExecutor();
    private final Map<String, Long> balances = new TreeMap<>(Map.of(PAYER, TOTAL, "bob", 0L, "carol", 0L));

    /** The one thread. Transfers that start on it start in turn, before the bank's first answer. */
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
     * Prints what became of transfers of {@code amount} from alice, and whether the books still balance. To be called
     * on the loop or when nothing runs.
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
