package baton.test.interleaving

/** How a run failed. */
internal class Failure(val kind: Kind, val text: String, val cause: Throwable? = null) {
    enum class Kind {
        /** The body or a coroutine has thrown. */
        THROWN,

        /** A check has thrown that followed the body. */
        CHECK,
        DEADLOCK,
        LIVELOCK,

        /** A thread that is not explored took part. */
        OUTSIDE,
    }

    fun isLike(other: Failure?): Boolean =
        other != null && kind == other.kind && cause?.javaClass == other.cause?.javaClass
}
