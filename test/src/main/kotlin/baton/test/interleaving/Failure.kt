package baton.test.interleaving

/**
 * How a run failed.
 *
 * @property text in a few words.
 * @property details to follow the story; empty if there are none.
 */
internal class Failure(val kind: Kind, val text: String, val cause: Throwable? = null, val details: String = "") {
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
