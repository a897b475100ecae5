package samples.support;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** The header Retry-After, in seconds and as a date by turns, and the count of the requests that came too early. */
final class Throttle {
    private static final DateTimeFormatter HTTP_DATE = DateTimeFormatter.ofPattern(
                    "EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private static final long NANOS = TimeUnit.SECONDS.toNanos(1);

    /** A date has whole seconds: it is so many milliseconds from now, or up to a second less. */
    private static final long MILLIS = 1100;

    private final Map<Integer, BooleanSupplier> tooEarly = new ConcurrentHashMap<>();
    private final Set<Integer> refusedRecords = ConcurrentHashMap.newKeySet();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger early = new AtomicInteger();

    /** Refuses a record; returns the header. */
    String refuse(int number) {
        refusedRecords.add(number);
        if (refused.getAndIncrement() % 2 == 0) {
            long end = System.nanoTime() + NANOS;
            tooEarly.put(number, () -> System.nanoTime() - end < 0);
            return "1";
        }
        Instant end = Instant.now().plusMillis(MILLIS).truncatedTo(ChronoUnit.SECONDS);
        tooEarly.put(number, () -> Instant.now().isBefore(end));
        return HTTP_DATE.format(end);
    }

    /** Whether the record has been refused before. */
    boolean hasRefused(int number) {
        return refusedRecords.contains(number);
    }

    /** A record has come, for the first time or again. */
    void came(int number) {
        BooleanSupplier isEarly = tooEarly.remove(number);
        if (isEarly != null && isEarly.getAsBoolean()) early.incrementAndGet();
    }

    int early() {
        return early.get();
    }
}
