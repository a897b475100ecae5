package baton.shared

/**
 * The last holder of a [SharedMutex] died, or its region was closed, within the section: the data may be half-written.
 * The caller does not hold the lock, which stays marked until a holder repairs the data.
 */
public class AbandonedLockException(message: String) : IllegalStateException(message)
