package baton

/**
 * An object with a limit for each key, such as `RateLimiters` or `Mutexes`, refused a new key: it has as many keys as
 * it may have, and none of them is idle. The call was not admitted; calls of the keys that it has are not affected.
 */
public class TooManyKeysException(message: String) : IllegalStateException(message), Refusal
