package samples.support;

import baton.resilience.CircuitOpenException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpTimeoutException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;

/** Counts failures by kind. Not thread-safe: its owner guards it. */
public final class Failures {
    /** The kind of a call that was not sent. */
    static final String NOT_SENT = "breaker open";

    private final Map<String, Integer> kinds = new TreeMap<>();
    private int count;

    /** The exception with which a future has failed, without a {@code CompletionException} around it. */
    public static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException ? failure.getCause() : failure;
    }

    /** The class and the message of the cause. */
    static String text(Throwable failure) {
        Throwable cause = cause(failure);
        String message = cause.getMessage();
        // The message is from afar: that of a server's certificate, or of a driver that quotes its URL.
        return cause.getClass().getSimpleName()
                + (message == null ? "" : " (" + TextFile.printable(Redaction.GENERAL.of(message)) + ")");
    }

    /** The kind of the failure of a call over HTTP. */
    public static String kind(Throwable failure) {
        Throwable cause = cause(failure);
        if (cause instanceof RefusedException) return cause.getMessage();
        if (cause instanceof CircuitOpenException) return NOT_SENT;
        if (cause instanceof HttpTimeoutException) return "timed out";
        if (cause instanceof ConnectException) return "no connection";
        // A server with a wrong certificate is reachable: its message gives the reason.
        if (cause instanceof IOException && !(cause instanceof SSLException)) return "connection lost";
        return text(cause);
    }

    void add(Throwable failure) {
        add(text(failure));
    }

    /** Adds the failure of a call over HTTP. */
    public void addCall(Throwable failure) {
        add(kind(failure));
    }

    void add(String kind) {
        count++;
        kinds.merge(kind, 1, Integer::sum);
    }

    int count(String kind) {
        return kinds.getOrDefault(kind, 0);
    }

    public int count() {
        return count;
    }

    @Override
    public String toString() {
        return kinds.entrySet().stream()
                .map(kind -> kind.getValue() + " x " + kind.getKey())
                .collect(Collectors.joining(", "));
    }
}
