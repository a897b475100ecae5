package baton.distributed.jdbc;

import baton.distributed.OutcomeUnknownException;
import baton.distributed.StoreUnavailableException;
import baton.distributed.threads.OneThread;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One connection and the thread that uses it. A connection that has failed is closed, and the next call opens another. */
public final class JdbcLane implements AutoCloseable {
    /**
     * A connection whose other end does not answer is given up: soon enough for a heartbeat on another one within the
     * default lease.
     */
    private static final int NETWORK_MILLIS = 3_000;

    private final String label;
    private final Connections source;
    private final Preparation prepare;
    private final ExecutorService thread;

    /** Of the thread. */
    private @Nullable Connection connection;

    /** The thread. It may be another one after a pause. */
    private volatile @Nullable Thread running;

    /** Opens connections. */
    public interface Connections {
        /** A new connection, or one of a pool. */
        Connection open() throws SQLException;
    }

    /** The first work of each new connection. */
    public interface Preparation {
        /** Does it. */
        void run(Connection connection) throws SQLException;
    }

    /**
     * Work with the connection, which commits each statement.
     *
     * @param <T> of the result
     */
    public interface Work<T extends @Nullable Object> {
        /** Does it. */
        T run(Connection connection) throws SQLException;
    }

    /**
     * A lane without a connection yet.
     *
     * @param prepare what a new connection must do before its first work
     */
    public JdbcLane(String label, String threadName, Connections source, Preparation prepare) {
        this.label = label;
        this.source = source;
        this.prepare = prepare;
        thread = OneThread.executor(threadName);
    }

    /** Runs the work after what was submitted before. */
    public <T extends @Nullable Object> CompletionStage<T> submit(Work<T> work) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        try {
            thread.execute(() -> run(work, answer));
        } catch (RejectedExecutionException e) {
            answer.completeExceptionally(new StoreUnavailableException(label + " is closed", e));
        }
        return answer;
    }

    private <T extends @Nullable Object> void run(Work<T> work, CompletableFuture<T> answer) {
        running = Thread.currentThread();
        Connection open;
        try {
            open = connection();
        } catch (Throwable e) {
            answer.completeExceptionally(new StoreUnavailableException(label + " is not available: " + e, e));
            return;
        }
        T result;
        try {
            result = work.run(open);
        } catch (Throwable e) {
            discard();
            answer.completeExceptionally(new OutcomeUnknownException(label + " has failed: " + e, e));
            return;
        }
        answer.complete(result);
    }

    private Connection connection() throws SQLException {
        Connection open = connection;
        if (open != null && !open.isClosed()) return open;
        Connection fresh = open(source);
        try {
            prepare.run(fresh);
        } catch (SQLException e) {
            fresh.close();
            throw e;
        }
        connection = fresh;
        return fresh;
    }

    /** A connection that commits each statement. */
    static Connection open(Connections source) throws SQLException {
        Connection fresh = source.open();
        try {
            fresh.setAutoCommit(true);
            fresh.setNetworkTimeout(Runnable::run, NETWORK_MILLIS);
        } catch (SQLException e) {
            fresh.close();
            throw e;
        }
        return fresh;
    }

    private void discard() {
        Connection open = connection;
        connection = null;
        if (open == null) return;
        try {
            open.close();
        } catch (SQLException e) {
            // It is given up in any case.
        }
    }

    /** Waits until the connection is closed, but no longer than for an answer of it. */
    @Override
    public void close() {
        try {
            thread.execute(this::discard);
        } catch (RejectedExecutionException e) {
            return; // closed before
        }
        thread.shutdown();
        if (Thread.currentThread() == running) return;
        try {
            var unused = thread.awaitTermination(NETWORK_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
