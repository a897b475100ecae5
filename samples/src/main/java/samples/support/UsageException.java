package samples.support;

/** The user asked for something that cannot be done: one line that says what, for stderr. */
public final class UsageException extends Exception {
    private static final long serialVersionUID = 1;

    public UsageException(String message) {
        super(message);
    }
}
