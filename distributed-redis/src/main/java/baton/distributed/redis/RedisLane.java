package baton.distributed.redis;

import baton.distributed.OutcomeUnknownException;
import baton.distributed.StoreUnavailableException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection and the calls on it. One that is lost, or on which a call is not answered in time, is closed: the other end
 * may be gone without a word. The next call opens another.
 */
final class RedisLane {
    private final String label;
    private final long limitMillis;
    private final Supplier<? extends CompletionStage<? extends StatefulRedisConnection<String, String>>> opener;

    private final AtomicReference<@Nullable CompletableFuture<StatefulRedisConnection<String, String>>> current =
            new AtomicReference<>();
    private final CompletableFuture<StatefulRedisConnection<String, String>> closed;

    RedisLane(
            String label,
            long limitMillis,
            Supplier<? extends CompletionStage<? extends StatefulRedisConnection<String, String>>> opener) {
        this.label = label;
        this.limitMillis = limitMillis;
        this.opener = opener;
        closed = CompletableFuture.failedFuture(new StoreUnavailableException(label + " is closed", null));
    }

    /** The answer to the command, or a failure that says whether it may still be executed. */
    <T> CompletionStage<T> call(Function<RedisAsyncCommands<String, String>, CompletionStage<T>> command) {
        var connecting = connection();
        CompletableFuture<T> answer = new CompletableFuture<>();
        // By the sending, or by the timeout: what has not been sent then never is.
        AtomicBoolean isDecided = new AtomicBoolean();
        connecting.whenComplete((connection, failure) -> {
            if (!isDecided.compareAndSet(false, true)) return;
            if (failure != null) answer.completeExceptionally(failure);
            else send(connection, command, answer);
        });
        return answer.orTimeout(limitMillis, TimeUnit.MILLISECONDS).handle((value, failure) -> {
            if (failure == null) return value;
            boolean isUnsent = isDecided.compareAndSet(false, true);
            throw failureOf(unwrapped(failure), isUnsent, connecting);
        });
    }

    private static <T> void send(
            StatefulRedisConnection<String, String> connection,
            Function<RedisAsyncCommands<String, String>, CompletionStage<T>> command,
            CompletableFuture<T> answer) {
        try {
            command.apply(connection.async()).whenComplete((value, failure) -> {
                if (failure == null) answer.complete(value);
                else answer.completeExceptionally(failure);
            });
        } catch (RuntimeException e) {
            answer.completeExceptionally(e);
        }
    }

    private RuntimeException failureOf(
            Throwable cause, boolean isUnsent, CompletableFuture<StatefulRedisConnection<String, String>> connecting) {
        if (cause instanceof RedisCommandExecutionException) {
            // A former primary that is a replica now: the next connection may lead elsewhere.
            if (String.valueOf(cause.getMessage()).startsWith("READONLY")) forget(connecting);
            return new StoreUnavailableException(label + " has refused a command: " + cause.getMessage(), cause);
        }
        if (cause instanceof IllegalStateException e && !(cause instanceof StoreUnavailableException)) return e;
        forget(connecting);
        if (cause instanceof StoreUnavailableException e) return e;
        String why = cause instanceof TimeoutException ? "no answer within " + limitMillis + " ms" : textOf(cause);
        if (isUnsent) return new StoreUnavailableException(label + " has no connection: " + why, cause);
        return new OutcomeUnknownException(label + " has not answered: " + why, cause);
    }

    private static Throwable unwrapped(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? cause : failure;
    }

    /** The innermost message says why: outer ones repeat the address. */
    private static String textOf(Throwable failure) {
        Throwable root = failure;
        for (Throwable cause = root.getCause(); cause != null && cause != root; cause = root.getCause()) root = cause;
        return root.toString();
    }

    private CompletableFuture<StatefulRedisConnection<String, String>> connection() {
        while (true) {
            var seen = current.get();
            if (seen == closed || (seen != null && !isLost(seen))) return seen;
            CompletableFuture<StatefulRedisConnection<String, String>> fresh = new CompletableFuture<>();
            if (!current.compareAndSet(seen, fresh)) continue;
            open(fresh);
            return fresh;
        }
    }

    private static boolean isLost(CompletableFuture<StatefulRedisConnection<String, String>> seen) {
        return seen.isCompletedExceptionally() || (seen.isDone() && !seen.join().isOpen());
    }

    private void open(CompletableFuture<StatefulRedisConnection<String, String>> fresh) {
        try {
            opener.get().whenComplete((connection, failure) -> {
                if (failure != null) fresh.completeExceptionally(unavailable(unwrapped(failure)));
                else if (!fresh.complete(connection)) connection.closeAsync();
            });
        } catch (RuntimeException e) {
            fresh.completeExceptionally(unavailable(e));
        }
    }

    private StoreUnavailableException unavailable(Throwable cause) {
        if (cause instanceof StoreUnavailableException e) return e;
        return new StoreUnavailableException(label + " has no connection: " + textOf(cause), cause);
    }

    private void forget(CompletableFuture<StatefulRedisConnection<String, String>> connecting) {
        if (!current.compareAndSet(connecting, null)) return;
        // One that is still being opened is closed as soon as it is there.
        connecting.completeExceptionally(new StoreUnavailableException(label + " has no connection yet", null));
        connecting.thenAccept(StatefulRedisConnection::closeAsync);
    }

    /** Closes the connection once all commands before have been answered, or the limit is over. */
    CompletionStage<?> close() {
        var last = current.getAndSet(closed);
        if (last == null || last == closed) return CompletableFuture.completedFuture(null);
        last.completeExceptionally(new StoreUnavailableException(label + " is closed", null));
        return last.handle((connection, failure) -> {
                    if (failure != null) return CompletableFuture.<Void>completedFuture(null);
                    CompletableFuture<Object> answered = new CompletableFuture<>();
                    send(connection, redis -> redis.echo("close").thenApply(it -> (Object) it), answered);
                    return answered.orTimeout(limitMillis, TimeUnit.MILLISECONDS)
                            .handle((ok, late) -> connection.closeAsync())
                            .thenCompose(it -> it);
                })
                .thenCompose(it -> it);
    }
}
