package samples.support;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The faults of a real server: 429 while too much is in flight, and after each third of the records, when their quota is
 * used up; connections that are lost before a request is read, or after its record is stored; and an outage of a second
 * at half of the records. Counts and not the time decide when that happens, so a slow machine sees the same faults.
 */
final class CountedFaults implements Faults {
    /** The weight in flight above which the server answers 429. */
    static final int CAPACITY = 40;

    /** How often the quota is used up during an import, and for how many requests. */
    private static final int QUOTAS = 3;

    private static final int MAX_REFUSED_BY_QUOTA = 30;

    /** Of so many requests one loses its connection before it is read, and another one its answer. */
    private static final int RESET_EVERY = 100;

    private static final Duration OUTAGE = Duration.ofSeconds(1);

    private final Outage outage = new Outage(OUTAGE);
    private final Throttle throttle = new Throttle();
    private final int records;
    private final int quota;
    private final int refusedByQuota;
    private final AtomicInteger overQuota = new AtomicInteger();

    /** The faults during an import of {@code records} records. */
    CountedFaults(int records) {
        this.records = records;
        quota = Math.max(1, records / QUOTAS);
        refusedByQuota = Math.min(MAX_REFUSED_BY_QUOTA, quota / QUOTAS);
    }

    @Override
    public void came(int number) {
        throttle.came(number);
    }

    @Override
    public boolean losesRequest(int request) {
        return request % RESET_EVERY == 0;
    }

    @Override
    public boolean losesAnswer(int request) {
        return request % RESET_EVERY == RESET_EVERY / 2;
    }

    @Override
    public int status(int number, int weightInFlight) {
        if (outage.isNow()) return 503;
        if (weightInFlight > CAPACITY) return 429;
        // Otherwise a record that comes alone could be refused over and over.
        if (throttle.hasRefused(number)) return 200;
        int left = overQuota.getAndUpdate(refusals -> Math.max(0, refusals - 1));
        return left > 0 ? 429 : 200;
    }

    @Override
    public Optional<String> retryAfter(int number) {
        return Optional.of(throttle.refuse(number));
    }

    @Override
    public void stored(int stored) {
        if (stored % quota == 0) overQuota.set(refusedByQuota);
        if (stored == records / 2) outage.begin();
    }

    /** The number of requests that came before the Retry-After of the record's last answer. */
    int early() {
        return throttle.early();
    }
}
