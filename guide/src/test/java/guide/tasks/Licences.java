package guide.tasks;

import baton.interop.AsyncSharedRegion;
import baton.interop.AsyncSharedSemaphore;
import baton.shared.SharedPermit;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** Takes all three licences of the machine, and holds them until its input ends or it is killed. */
class Licences {
    static AsyncSharedSemaphore of(AsyncSharedRegion region) {
        return region.semaphore("licences", 3);
    }

    public static void main(String[] args) throws IOException {
        try (AsyncSharedRegion region = AsyncSharedRegion.open(Path.of(args[0]));
                SharedPermit held = of(region).acquire(3, Duration.ofMinutes(1)).join()) {
            System.out.println("has " + held.getPermits() + " licences");
            System.in.read();
        }
    }
}
