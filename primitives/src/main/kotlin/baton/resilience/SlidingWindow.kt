package baton.resilience

import kotlin.time.Duration

/** The calls whose results decide whether a [CircuitBreaker] opens. */
public sealed interface SlidingWindow {
    /**
     * The latest [size] calls.
     *
     * @property size at least 1.
     */
    public class Calls(public val size: Int) : SlidingWindow {
        init {
            require(size >= 1) { "size = $size, must be at least 1" }
        }

        override fun equals(other: Any?): Boolean = other is Calls && size == other.size

        override fun hashCode(): Int = size

        override fun toString(): String = "Calls(size=$size)"
    }

    /**
     * The calls that have ended in the latest [length] of time. It is kept in tenths: a result is forgotten when it is
     * between nine tenths of [length] and [length] old.
     *
     * @property length above 0.
     */
    public class Time(public val length: Duration) : SlidingWindow {
        init {
            require(length.isPositive()) { "length = $length, must be above 0" }
        }

        override fun equals(other: Any?): Boolean = other is Time && length == other.length

        override fun hashCode(): Int = length.hashCode()

        override fun toString(): String = "Time(length=$length)"
    }
}
