/**
 * The Java API: one thin class per primitive. Waiting operations return a CompletableFuture and block no thread. These
 * block by design: the views that {@code blocking()} returns, {@code join} and {@code close} of a {@link
 * baton.interop.TaskScope}, {@code close} of an {@link baton.interop.AsyncTaskScheduler}, and, as in every
 * ExecutorService, {@code awaitTermination}, {@code invokeAll}, {@code invokeAny} and, since JDK 19, {@code close} of
 * the executors.
 *
 * <p>A future fails on the thread that fails it, so the stack trace does not show the call that waited. With the system
 * property {@code baton.futures.traces} set to {@code true} when the JVM starts, the failure of a request that waited
 * at a primitive carries the stack of the call that waits, as a suppressed exception: one stack trace per request that has
 * to wait. It is off by default, and then costs nothing: the {@code CancellationException} of a future that was
 * cancelled has no stack trace at all then, since reading one would cost several times what the cancel costs. Its message
 * names the call.
 */
@NullMarked
package baton.interop;

import org.jspecify.annotations.NullMarked;
