/**
 * The Java face: one thin class per primitive. What waits answers a future and blocks nobody, but for what is there to
 * block: {@code join} and {@code close} of a {@link baton.interop.TaskScope}; and of the executors, as everywhere,
 * {@code awaitTermination}, {@code invokeAll}, {@code invokeAny} and, since JDK 19, {@code close}.
 */
@NullMarked
package baton.interop;

import org.jspecify.annotations.NullMarked;
