package samples.support;

/** A wrong command line or input file. The message is one line for stderr. */
public final class UsageException extends Exception {
    private static final long serialVersionUID = 1;

    public UsageException(String message) {
        super(message);
    }
}
