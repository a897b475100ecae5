package baton.distributed.zookeeper;

import baton.distributed.OutcomeUnknownException;
import baton.distributed.StoreUnavailableException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.BackgroundCallback;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.zookeeper.KeeperException;

/**
 * Calls with a limit, which are sent only while there is a connection. So one that could not be sent in time has certainly
 * changed nothing; after all other failures the outcome is unknown.
 */
final class ZooKeeperCalls {
    private final CuratorFramework client;
    private final String label;
    private final long limitMillis;
    private final AtomicBoolean isStarted;
    private volatile boolean isClosed;

    /** Completed at the next connection. */
    private final AtomicReference<CompletableFuture<Void>> connected = new AtomicReference<>(new CompletableFuture<>());

    ZooKeeperCalls(CuratorFramework client, boolean isToStart, String label, long limitMillis) {
        this.client = client;
        this.label = label;
        this.limitMillis = limitMillis;
        isStarted = new AtomicBoolean(!isToStart);
    }

    void connectionChanged(boolean isConnected) {
        if (isConnected) connected.get().complete(null);
        else connected.updateAndGet(before -> before.isDone() ? new CompletableFuture<>() : before);
    }

    /** A command of the client. */
    interface Command {
        void send(BackgroundCallback answer) throws Exception;
    }

    /** The answer to a command, whatever its code. */
    CompletionStage<CuratorEvent> send(Command command) {
        CompletableFuture<CuratorEvent> answer = new CompletableFuture<>();
        try {
            command.send((it, event) -> answer.complete(event));
        } catch (Exception e) {
            answer.completeExceptionally(e);
        }
        return answer;
    }

    /** Throws unless the command has succeeded. */
    static void check(CuratorEvent event) {
        if (event.getResultCode() == KeeperException.Code.OK.intValue()) return;
        throw new CompletionException(
                KeeperException.create(KeeperException.Code.get(event.getResultCode()), event.getPath()));
    }

    /** The result of the work, which sends commands, or a failure that says whether they may have been executed. */
    <T> CompletionStage<T> call(Supplier<CompletionStage<T>> work) {
        if (isClosed) return CompletableFuture.failedFuture(new StoreUnavailableException(label + " is closed", null));
        if (isStarted.compareAndSet(false, true)) client.start();
        CompletableFuture<T> answer = new CompletableFuture<>();
        // By the sending, or by the timeout: what has not been sent then never is.
        AtomicBoolean isDecided = new AtomicBoolean();
        CompletableFuture<Void> next = connected.get();
        var ready = client.getZookeeperClient().isConnected() ? CompletableFuture.<Void>completedFuture(null) : next;
        ready.thenRun(() -> {
            if (!isDecided.compareAndSet(false, true)) return;
            work.get().whenComplete((value, failure) -> {
                if (failure == null) answer.complete(value);
                else answer.completeExceptionally(failure);
            });
        });
        return answer.orTimeout(limitMillis, TimeUnit.MILLISECONDS).handle((value, failure) -> {
            if (failure == null) return value;
            throw failureOf(failure, isDecided.compareAndSet(false, true));
        });
    }

    private RuntimeException failureOf(Throwable failure, boolean isUnsent) {
        Throwable inner = failure.getCause();
        Throwable cause = failure instanceof CompletionException && inner != null ? inner : failure;
        String why = cause instanceof TimeoutException ? "no answer within " + limitMillis + " ms" : cause.toString();
        if (isUnsent) return new StoreUnavailableException(label + " has no connection: " + why, cause);
        return new OutcomeUnknownException(label + " has failed: " + why, cause);
    }

    void close() {
        isClosed = true;
    }
}
