package baton.test;

import static baton.test.BatonAssertions.assertIdle;
import static baton.test.BatonAssertions.assertInUse;
import static baton.test.BatonAssertions.assertNoLeaks;
import static baton.test.BatonAssertions.assertWaiters;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import baton.sync.Semaphore;
import baton.sync.WaitOrder;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class BatonAssertionsTest {
    private final Semaphore semaphore = new Semaphore(3, 0, WaitOrder.FIFO, null);

    @Test
    void assertions_asUsersWriteThem() {
        assertIdle(semaphore);
        assertWaiters(0, semaphore);
        assertInUse(0, semaphore);
        assertNoLeaks(() -> {}, semaphore);
    }

    @Test
    void noLeaks_whileAnotherThreadTakesItsLastStep_waits() {
        assertNoLeaks(
                () -> {
                    semaphore.tryAcquire(1);
                    new Thread(() -> semaphore.release(1)).start();
                },
                semaphore);
    }

    @Test
    void noLeaks_ofABodyThatLeavesAPermit_fails() {
        AssertionError error =
                assertThrows(AssertionError.class, () -> assertNoLeaks(() -> semaphore.tryAcquire(1), semaphore));
        assertEquals(
                "left behind:\n" + semaphore
                        + "\n  permits held: 1 (holders are recorded of one permit alone: try Semaphore(1))",
                error.getMessage());
    }

    @Test
    void noLeaks_ofABodyThatFails_throwsThat() {
        IOException failure = new IOException("wrong");
        IOException thrown = assertThrows(
                IOException.class,
                () -> assertNoLeaks(
                        () -> {
                            semaphore.tryAcquire(1);
                            throw failure;
                        },
                        semaphore));
        assertSame(failure, thrown);
        assertEquals(1, thrown.getSuppressed().length);
    }
}
