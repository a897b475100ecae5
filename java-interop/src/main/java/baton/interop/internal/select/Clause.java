package baton.interop.internal.select;

import baton.interop.Select;
import org.jspecify.annotations.Nullable;

/** A clause of a {@link Select}. Each start of the select makes an attempt of its own. */
public interface Clause<R extends @Nullable Object> {
    /** A new attempt for one start of the select. */
    Attempt attempt(SelectFuture<R> call);

    /**
     * Whether its attempts start after those of all other clauses, whatever the order of the clauses; true for
     * timeouts.
     */
    default boolean isLast() {
        return false;
    }

    /**
     * One request of one start of a select. Each method but {@code start} is called at most once: {@code withdraw}
     * after the select has started all attempts or one of them has won, {@code finish} and {@code undo} only after this
     * one has won.
     */
    interface Attempt {
        /**
         * Begins to wait, or wins at once. Called again if it was granted and refused while the select was starting.
         */
        void start();

        /** Ends the wait: another attempt has won, or the select has ended. */
        void withdraw();

        /** This attempt has won: completes the select with the result of its function. */
        void finish();

        /** This attempt has won, but the select has ended before {@link #finish}: returns the grant. */
        void undo();

        /** The request and the state of its primitive, in the description of the future. */
        String description();

        /** Whether its own {@code start} was granted at once. */
        default boolean isAtOnce() {
            return false;
        }

        /** Whether its grant cannot be undone, because its element was received. */
        default boolean isFinal() {
            return false;
        }
    }
}
