package baton.sync

import java.util.concurrent.TimeoutException

/** The other parties of a [Barrier] did not arrive in time. */
public class BarrierTimeoutException(message: String) : TimeoutException(message)
