package samples.support;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;

/** Counts failures by kind. Not thread-safe: its owner guards it. */
final class Failures {
    private final Map<String, Integer> kinds = new TreeMap<>();
    private int count;

    /** The exception with which a future has failed, without a {@code CompletionException} around it. */
    static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException ? failure.getCause() : failure;
    }

    void add(Throwable failure) {
        Throwable cause = cause(failure);
        String message = cause.getMessage();
        add(cause.getClass().getSimpleName() + (message == null ? "" : " (" + message + ")"));
    }

    void add(String kind) {
        count++;
        kinds.merge(kind, 1, Integer::sum);
    }

    int count() {
        return count;
    }

    @Override
    public String toString() {
        return kinds.entrySet().stream()
                .map(kind -> kind.getValue() + " x " + kind.getKey())
                .collect(Collectors.joining(", "));
    }
}
