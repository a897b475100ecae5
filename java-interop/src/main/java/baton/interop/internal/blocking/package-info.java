/** The waits of threads: what is behind the blocking views of {@code baton.interop}. */
@NullMarked
package baton.interop.internal.blocking;

import org.jspecify.annotations.NullMarked;
