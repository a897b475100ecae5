package baton.distributed.jdbc;

import baton.waiting.threads.HandOverExecutor;
import baton.waiting.threads.Trampoline;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * Hears what other members notify, on a connection and a thread of its own. Each topic has a channel, so that a member
 * is woken by its own rings alone.
 *
 * <p>A pooler that gives the connection to others between two transactions forwards no notification. So the bell first
 * has another connection notify this one, and hears nothing until that has arrived. After any failure it begins anew.
 */
public final class PostgresBell implements AutoCloseable {
    /** How long the connection is read before a statement shows whether it is still there. */
    private static final int IDLE_MILLIS = 10_000;

    private static final int TEST_MILLIS = 3_000;
    private static final int STEP_MILLIS = 500;
    private static final long FIRST_PAUSE = 1_000;
    private static final long LONGEST_PAUSE = 60_000;
    private static final int MOST_DOUBLINGS = 6;

    private final String label;
    private final String table;
    private final JdbcLane.Connections source;
    private final Supplier<Set<String>> topics;
    private final BiConsumer<String, String> ring;
    private final Notify notify;

    /** Begins the payload of what this store sends, which its own listeners have heard already. */
    private final String sender =
            Long.toUnsignedString(ThreadLocalRandom.current().nextLong(), Character.MAX_RADIX);

    private final String ownChannel;
    private final AtomicBoolean isStarted = new AtomicBoolean();
    private final CountDownLatch closed = new CountDownLatch(1);

    /** The topics of the channels to which the connection listens. Replaced by the thread; empty while there is none. */
    private volatile Map<String, String> listening = Map.of();

    private volatile boolean isConnected;

    /** Sends a notification on another connection. */
    public interface Notify {
        CompletionStage<?> send(String channel, String payload);
    }

    /**
     * A bell that is silent until it is {@linkplain #start started}.
     *
     * @param topics those that have listeners now
     * @param ring called with a topic and a key
     */
    public PostgresBell(
            String label,
            String table,
            JdbcLane.Connections source,
            Supplier<Set<String>> topics,
            BiConsumer<String, String> ring,
            Notify notify) {
        this.label = label;
        this.table = table;
        this.source = source;
        this.topics = topics;
        this.ring = ring;
        this.notify = notify;
        ownChannel = channelOf("store " + sender);
    }

    /** The channel of a topic: an identifier of PostgreSQL's, whatever the topic looks like. */
    public String channelOf(String topic) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256")
                    .digest((table.toLowerCase(java.util.Locale.ROOT) + " " + topic).getBytes(StandardCharsets.UTF_8));
            return "baton_" + HexFormat.of().formatHex(digest, 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The payload that tells of a changed document. */
    public String payloadOf(String key) {
        return sender + " " + key;
    }

    /** Starts the thread; at most once. */
    public void start() {
        if (isStarted.compareAndSet(false, true))
            HandOverExecutor.daemon("baton-store-bell", this::run).start();
    }

    /** The topics have changed. */
    public void topicsChanged() {
        if (isConnected) notify.send(ownChannel, "");
    }

    /** Whether all topics are heard. */
    public boolean hearsAll() {
        return isConnected && listening.values().containsAll(topics.get());
    }

    private void run() {
        int failures = 0;
        boolean isReported = false;
        while (closed.getCount() > 0) {
            try {
                if (!hear()) return;
            } catch (Throwable e) {
                if (isConnected) {
                    failures = 0;
                    isReported = false;
                }
                silence();
                if (closed.getCount() == 0) return;
                if (!isReported) {
                    isReported = true;
                    Trampoline.report(new IllegalStateException(
                            label + " hears no bell, tries again, and is polled until then: " + e, e));
                }
                if (!pause(failures++)) return;
            }
        }
    }

    private void silence() {
        isConnected = false;
        listening = Map.of();
    }

    /** False if the bell was closed. */
    private boolean pause(int failures) {
        long longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE << Math.min(failures, MOST_DOUBLINGS));
        try {
            return !closed.await(ThreadLocalRandom.current().nextLong(longest) + 1, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            return true; // no other code has this thread
        }
    }

    /** Returns when the bell was closed, or if the driver has no notifications. */
    private boolean hear() throws SQLException {
        try (Connection connection = JdbcLane.open(source)) {
            Notifications notifications = Notifications.of(connection);
            if (notifications == null) return false;
            execute(connection, "listen " + ownChannel);
            test(notifications);
            isConnected = true;
            while (closed.getCount() > 0) {
                followTopics(connection);
                List<Notifications.Notification> heard = notifications.await(IDLE_MILLIS);
                if (heard.isEmpty()) execute(connection, "select 1");
                heard.forEach(this::dispatch);
            }
            silence();
            execute(connection, "unlisten *"); // the connection may be of a pool
            return true;
        }
    }

    private void test(Notifications notifications) throws SQLException {
        notify.send(ownChannel, "");
        for (int waited = 0; waited < TEST_MILLIS && closed.getCount() > 0; waited += STEP_MILLIS) {
            if (!notifications.await(STEP_MILLIS).isEmpty()) return;
        }
        throw new SQLException("a NOTIFY of its own has not arrived; a pooler in transaction mode forwards none");
    }

    private void dispatch(Notifications.Notification heard) {
        String topic = listening.get(heard.channel());
        int space = heard.payload().indexOf(' ');
        if (topic == null || space < 0 || heard.payload().substring(0, space).equals(sender)) return;
        ring.accept(topic, heard.payload().substring(space + 1));
    }

    private void followTopics(Connection connection) throws SQLException {
        Map<String, String> wanted = new HashMap<>();
        for (String topic : topics.get()) wanted.put(channelOf(topic), topic);
        Map<String, String> before = listening;
        for (String channel : wanted.keySet())
            if (!before.containsKey(channel)) execute(connection, "listen " + channel);
        for (String channel : before.keySet())
            if (!wanted.containsKey(channel)) execute(connection, "unlisten " + channel);
        listening = Map.copyOf(wanted);
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Ends the thread, once it has read that. */
    @Override
    public void close() {
        closed.countDown();
        topicsChanged();
    }
}
