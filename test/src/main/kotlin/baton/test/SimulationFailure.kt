package baton.test

/**
 * Why a seed of [simulate] has failed, and when.
 *
 * @property details to follow the events; empty if there are none.
 */
internal class SimulationFailure(
    val text: String,
    val nanos: Long,
    val cause: Throwable? = null,
    val details: String = "",
)
