package samples.support;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** A quota of requests a second, and an outage that begins when half of the records are stored. */
final class QuotaFaults implements Faults {
    private final Quota quota = new Quota(QuotaLimits.SERVER_RATE, QuotaLimits.SERVER_BURST, System::nanoTime);
    private final Outage outage;
    private final int records;
    private final AtomicInteger overQuota = new AtomicInteger();
    private final AtomicInteger intoOutage = new AtomicInteger();

    /** The faults during an import of {@code records} records. */
    QuotaFaults(int records, Duration outage) {
        this.records = records;
        this.outage = new Outage(outage);
    }

    @Override
    public int status(int number, int weightInFlight) {
        if (outage.isNow()) {
            intoOutage.incrementAndGet();
            return 503;
        }
        if (quota.accepts()) return 200;
        overQuota.incrementAndGet();
        return 429;
    }

    @Override
    public void stored(int stored) {
        if (stored == records / 2) outage.begin();
    }

    /** The number of requests that were refused with 429. */
    int overQuota() {
        return overQuota.get();
    }

    /** The number of requests that came during the outage, and were refused with 503. */
    int intoOutage() {
        return intoOutage.get();
    }
}
