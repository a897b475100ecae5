package guide.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many orders in Java, of docs/testing.md. */
@Tag("any-jdk")
class ManyOrdersTest {
    private static void checkDeposits(long seed, BiFunction<Account, Integer, CompletableFuture<Void>> deposit) {
        ShuffledSteps steps = new ShuffledSteps(seed);
        Account account = new Account(steps);
        CompletableFuture<Void> both = CompletableFuture.allOf(deposit.apply(account, 1), deposit.apply(account, 2));
        steps.run();
        assertTrue(both.isDone(), () -> "seed " + seed + ": nothing can go on");
        both.join();
        assertEquals(3, account.balance(), () -> "seed " + seed);
    }

    @Test
    void deposits_inAnyOrder_areNotLost() {
        for (long seed = 0; seed < 1_000; seed++) checkDeposits(seed, Account::depositMended);
    }

    @Test
    void depositsThatGiveTheLockBackTooEarly_areLostInSomeOrders() {
        int lost = 0;
        for (long seed = 0; seed < 1_000; seed++) {
            if (isLost(seed)) lost++;
        }
        assertTrue(lost > 100 && lost < 900, "lost in " + lost + " orders of 1000");
    }

    @Test
    void seed_givesTheSameOrderEachTime() {
        for (long seed = 0; seed < 100; seed++) assertEquals(isLost(seed), isLost(seed));
        AssertionError error = assertThrows(AssertionError.class, () -> checkDeposits(1, Account::deposit));
        assertEquals("seed 1 ==> expected: <3> but was: <2>", error.getMessage());
    }

    private static boolean isLost(long seed) {
        try {
            checkDeposits(seed, Account::deposit);
            return false;
        } catch (AssertionError e) {
            return true;
        }
    }
}
