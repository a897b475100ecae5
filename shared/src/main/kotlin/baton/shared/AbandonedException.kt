package baton.shared

/**
 * A process that had added work to a [SharedWaitGroup] died, or closed its region, before the work was done. The count
 * no longer contains that work.
 */
public class AbandonedException(message: String) : IllegalStateException(message)
