package baton.waiting

import java.util.concurrent.RejectedExecutionException

/** Exceptions that may be thrown inside Baton's own threads, timers and wake-ups. */
enum class InnerFailure(val create: () -> Throwable) {
    NO_CLASS({ NoClassDefFoundError("kotlin/coroutines/jvm/internal/SpillingKt") }),
    NO_THREAD({ OutOfMemoryError("unable to create native thread") }),
    REJECTED({ RejectedExecutionException("rejected") }),
}
