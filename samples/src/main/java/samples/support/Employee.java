package samples.support;

import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A row for the database.
 *
 * @param number counts from 1.
 * @param name null if it is missing; then the database refuses the row.
 */
public record Employee(int number, String name) {
    /** The number of no employee. */
    public static final int NONE = 0;

    /** The employees 1 to {@code count}, each read when the stream gets to it; {@code nameless} has no name. */
    public static Stream<Employee> read(int count, int nameless) {
        return IntStream.rangeClosed(1, count)
                .mapToObj(number -> new Employee(number, number == nameless ? null : "Employee " + number));
    }
}
