package baton.waiting

import java.util.concurrent.RejectedExecutionException

/** Exceptions inside a thread, timer or wake-up of Baton's own. */
enum class InnerFailure(val create: () -> Throwable) {
    NO_CLASS({ NoClassDefFoundError("kotlin/coroutines/jvm/internal/SpillingKt") }),
    NO_THREAD({ OutOfMemoryError("unable to create native thread") }),
    REJECTED({ RejectedExecutionException("rejected") }),
}
