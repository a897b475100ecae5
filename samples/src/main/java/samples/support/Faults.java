package samples.support;

import java.util.Optional;

/** The faults of an {@link ImportServer}, request by request. Several threads call it at a time. */
interface Faults {
    /** A request for the record {@code number} has come. */
    default void came(int number) {}

    /** Whether the connection of {@code request}, counted from 1, is lost before it is read. */
    default boolean losesRequest(int request) {
        return false;
    }

    /** Whether the connection of {@code request} is lost after its record is stored. */
    default boolean losesAnswer(int request) {
        return false;
    }

    /** The status of the answer for the record {@code number}; the weight in flight includes that of the record. */
    int status(int number, int weightInFlight);

    /** The header Retry-After of the answer with 429 for the record {@code number}. */
    default Optional<String> retryAfter(int number) {
        return Optional.empty();
    }

    /** One more record is stored, so that it is {@code records} now. */
    void stored(int records);
}
