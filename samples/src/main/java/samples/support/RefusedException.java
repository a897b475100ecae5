package samples.support;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The server has answered with a status that means no success: other than 2xx. */
public final class RefusedException extends IOException {
    private static final long serialVersionUID = 1;

    private final int status;
    private final String retryAfter;

    private RefusedException(int status, String retryAfter) {
        super("HTTP " + status);
        this.status = status;
        this.retryAfter = retryAfter;
    }

    /** The body of {@code response}; fails with this exception if the status is not 2xx. */
    public static <T> CompletableFuture<T> bodyOf(HttpResponse<T> response) {
        int status = response.statusCode();
        return status / 100 == 2
                ? CompletableFuture.completedFuture(response.body())
                : CompletableFuture.failedFuture(new RefusedException(
                        status, response.headers().firstValue("Retry-After").orElse(null)));
    }

    /** The header Retry-After of the answer, if {@code failure} is one that has this header. */
    public static Optional<String> retryAfter(Throwable failure) {
        return failure instanceof RefusedException refused ? Optional.ofNullable(refused.retryAfter) : Optional.empty();
    }

    /** Whether {@code failure} may be gone at the next attempt: a lost connection, 429 and 5xx. */
    public static boolean isTemporary(Throwable failure) {
        if (failure instanceof RefusedException refused) return refused.status == 429 || refused.status >= 500;
        return failure instanceof IOException;
    }
}
