package samples.support;

import baton.resilience.CircuitOpenException;
import java.io.IOException;
import java.net.http.HttpTimeoutException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;

/** Counts failures by kind. Not thread-safe: its owner guards it. */
final class Failures {
    /** The kind of a call that was not sent. */
    static final String NOT_SENT = "refused by the breaker";

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

    /** Adds why a call of a server has failed. */
    void addCall(Throwable failure) {
        Throwable cause = cause(failure);
        if (cause instanceof RefusedException) add(cause.getMessage());
        else if (cause instanceof CircuitOpenException) add(NOT_SENT);
        else if (cause instanceof HttpTimeoutException) add("timed out");
        else if (cause instanceof IOException) add("connection lost");
        else add(cause);
    }

    void add(String kind) {
        count++;
        kinds.merge(kind, 1, Integer::sum);
    }

    int count(String kind) {
        return kinds.getOrDefault(kind, 0);
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
