package samples.support;

import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A record to import, with its payload: every tenth is large and weighs five times as much as the others. */
public final class ImportRecord {
    private static final int LARGE_EVERY = 10;
    private static final int LARGE = 128 << 10;
    private static final int SMALL = 1 << 10;

    /** The places that a large record takes. */
    public static final int MAX_WEIGHT = 5;

    private final int number;
    private final byte[] payload;

    private ImportRecord(int number) {
        this.number = number;
        payload = new byte[size(number)];
    }

    /** The records 0 to {@code count - 1}, each read when the stream gets to it. */
    public static Stream<ImportRecord> read(int count) {
        return IntStream.range(0, count).mapToObj(ImportRecord::new);
    }

    static int size(int number) {
        return isLarge(number) ? LARGE : SMALL;
    }

    static int weight(int number) {
        return isLarge(number) ? MAX_WEIGHT : 1;
    }

    private static boolean isLarge(int number) {
        return number % LARGE_EVERY == 0;
    }

    /** The number, by which the server recognises a record that comes again. */
    public int number() {
        return number;
    }

    /** How many places it takes among the requests in flight. */
    public int weight() {
        return weight(number);
    }

    byte[] payload() {
        return payload;
    }
}
