package guide.howitworks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncSemaphore;
import baton.interop.Permit;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The Java of docs/how-it-works.md. */
class HowItWorksJavaTest {
    @Test
    void cancelledFuture_passesItsTurnOn() {
        AsyncSemaphore uplink = AsyncSemaphore.create(1);
        Permit held = uplink.acquire().join();
        CompletableFuture<Permit> first = uplink.acquire();
        CompletableFuture<Permit> second = uplink.acquire();
        first.cancel(false); // is out of the queue when this returns
        assertEquals(1, uplink.waiting());
        held.close();
        assertTrue(second.join().isHeld());
    }
}
