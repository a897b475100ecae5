package baton.waiting.threads

import baton.InternalBatonApi
import kotlin.time.TimeMark
import kotlin.time.TimeSource

/** The nanoseconds since it was made, by a clock that may be code of users: never read it under a lock. */
@InternalBatonApi
@JvmInline
public value class GuardedClock private constructor(private val origin: TimeMark) {
    public constructor(source: TimeSource) : this(source.markNow())

    /** Throws what the clock throws. */
    public fun read(): Long = origin.elapsedNow().inWholeNanoseconds

    /** As [read], for what must not fail halfway: what the clock throws is reported, and [otherwise] returned. */
    public fun readOr(otherwise: Long): Long =
        try {
            read()
        } catch (e: Throwable) {
            Trampoline.report(e)
            otherwise
        }
}
