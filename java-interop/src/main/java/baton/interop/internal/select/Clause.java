package baton.interop.internal.select;

import baton.interop.Select;
import org.jspecify.annotations.Nullable;

/** A clause of a {@link Select}. Each run of the select makes an attempt of its own. */
public interface Clause<R extends @Nullable Object> {
    Attempt attempt(SelectFuture<R> call);

    /** Where it stands among the others, whatever place it was given: whoever waits for time comes last. */
    default boolean isLast() {
        return false;
    }

    /**
     * The methods are called once at most, but for {@code start}; {@code withdraw} once the select has started all
     * attempts or one of them has won, the last two only when this one has won.
     */
    interface Attempt {
        /** Begins to wait, or wins at once. Again after it was met while the select was starting, and was refused. */
        void start();

        /** Another one has won, or nobody will. */
        void withdraw();

        /** It has won: ends the call with what its function makes of that. */
        void finish();

        /** It has won, but the call was ended before {@link #finish}. */
        void undo();

        /** Whether it has got something by its own {@code start}. */
        default boolean isAtOnce() {
            return false;
        }

        /** Whether what it has won by cannot be undone: its element was received. */
        default boolean isFinal() {
            return false;
        }
    }
}
