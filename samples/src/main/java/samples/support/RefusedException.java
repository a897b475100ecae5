package samples.support;

import java.io.IOException;
import java.net.http.HttpResponse;

/** The server has answered with a status other than 200. */
public final class RefusedException extends IOException {
    private static final long serialVersionUID = 1;

    private final int status;
    private final String retryAfter;

    private RefusedException(int status, String retryAfter) {
        super("HTTP " + status);
        this.status = status;
        this.retryAfter = retryAfter;
    }

    /** The body of {@code response}, if the server has accepted the request. */
    public static <T> T bodyOf(HttpResponse<T> response) throws RefusedException {
        if (response.statusCode() == 200) return response.body();
        throw new RefusedException(
                response.statusCode(), response.headers().firstValue("Retry-After").orElse(null));
    }

    /** The header Retry-After, null if there is none. */
    public String retryAfter() {
        return retryAfter;
    }

    /** Whether {@code failure} may be gone at the next attempt: a lost connection, 429 and 503. */
    public static boolean isTemporary(Throwable failure) {
        if (failure instanceof RefusedException refused) return refused.status == 429 || refused.status == 503;
        return failure instanceof IOException;
    }
}
