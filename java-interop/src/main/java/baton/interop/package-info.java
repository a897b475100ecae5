/**
 * The Java API: one thin class per primitive. Waiting operations return a CompletableFuture and block no thread. The
 * methods that block by design are {@code join} and {@code close} of a {@link baton.interop.TaskScope}, and, as in
 * every ExecutorService, {@code awaitTermination}, {@code invokeAll}, {@code invokeAny} and, since JDK 19, {@code
 * close} of the executors.
 */
@NullMarked
package baton.interop;

import org.jspecify.annotations.NullMarked;
