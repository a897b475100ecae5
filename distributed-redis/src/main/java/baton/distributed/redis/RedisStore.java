package baton.distributed.redis;

import baton.distributed.CasAnswer;
import baton.distributed.CoordinationStore;
import baton.distributed.StoreUnavailableException;
import baton.distributed.StoredDocument;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A store in Redis 6.2 or newer, by the client Lettuce.
 *
 * <pre>{@code
 * CoordinationStore store = new RedisStore("redis://:secret@localhost:6379");
 * }</pre>
 *
 * <p><i>Documents.</i> Each is a hash: {@code HGETALL shop:mutex:account} shows its version {@code v} and its text
 * {@code d}. They have no expiry.
 *
 * <p><i>Connections.</i> Three, opened at the first use: one for heartbeats, which therefore wait for no other work, one
 * for the locks, and one that hears the channels {@code baton:bell:*}. A connection that is lost, or does not answer in
 * time, is closed, and a later call opens another. No command is ever sent twice.
 *
 * <p><i>Timeouts.</i> A call fails after three seconds, or after the {@code timeout} that the URI names. Cancelling the
 * result of a call does not recall its command.
 *
 * <p><i>Durability.</i> A server that restarts without its data has lost all locks, which their holders find out at their
 * next heartbeat; nothing is granted for one lease then. A replica that takes over without the last writes may grant a lock
 * twice for up to a third of a lease, with equal fencing tokens. A server that may evict any key
 * ({@code maxmemory-policy allkeys-…}) is refused: all calls fail.
 */
public final class RedisStore implements CoordinationStore {
    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final Pattern POLICY = Pattern.compile("(?m)^maxmemory_policy:(allkeys-\\S+)");

    /** Nothing is written before the comparison, and no failure of a bell undoes the write. */
    private static final String COMPARE_AND_SET = """
            local v = redis.call('HGET', KEYS[1], 'v')
            if (v or '0') ~= ARGV[1] then
              return v and {v, redis.call('HGET', KEYS[1], 'd') or ''} or {}
            end
            redis.call('HSET', KEYS[1], 'v', ARGV[2], 'd', ARGV[3])
            for i = 4, #ARGV do redis.pcall('PUBLISH', ARGV[i], KEYS[1]) end
            return {'stored'}
            """;

    private static final String DELETE = """
            if redis.call('HGET', KEYS[1], 'v') ~= ARGV[1] then return 0 end
            return redis.call('DEL', KEYS[1])
            """;

    private final String label;
    private final RedisURI uri;
    private final RedisClient client;
    private final RedisLane heartbeats;
    private final RedisLane locks;
    private final RedisBell bell;

    /**
     * A store of the server that the URI names, or of the primary that its Sentinels name. Does no I/O.
     *
     * @param uri as Lettuce reads it, such as {@code redis://:secret@host:6379/0?timeout=500ms}
     * @throws IllegalArgumentException if it is no URI of Redis
     */
    public RedisStore(String uri) {
        this(parsed(uri));
    }

    private RedisStore(RedisURI uri) {
        this(RedisClient.create(uri), ClientOptions.builder(), uri);
    }

    /**
     * As the client of the application, whose threads and options this uses. The connections are the store's own, so that
     * the commands of the application delay no heartbeat. Does no I/O, and never closes {@code client}.
     */
    public RedisStore(RedisClient client, RedisURI uri) {
        this(RedisClient.create(client.getResources(), uri), client.getOptions().mutate(), uri);
    }

    private RedisStore(RedisClient own, ClientOptions.Builder options, RedisURI uri) {
        this.uri = uri;
        client = own;
        // Commands that Lettuce sends again after a reconnect could be executed twice, and late.
        client.setOptions(options.autoReconnect(false)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .build());
        label = "RedisStore (" + placeOf(uri) + ")";
        boolean isDefault = uri.getTimeout().equals(RedisURI.DEFAULT_TIMEOUT_DURATION);
        long limitMillis = Math.max(1, (isDefault ? TIMEOUT : uri.getTimeout()).toMillis());
        heartbeats = new RedisLane(label, limitMillis, this::connect);
        locks = new RedisLane(label, limitMillis, this::connect);
        bell = new RedisBell(label, limitMillis, () -> client.connectPubSubAsync(StringCodec.UTF8, uri));
    }

    /** The parser's own message would show the password. */
    private static RedisURI parsed(String uri) {
        Objects.requireNonNull(uri, "uri");
        try {
            return RedisURI.create(uri);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("uri is none of Redis, must be like redis://host:6379");
        }
    }

    private static String placeOf(RedisURI uri) {
        if (uri.getSocket() != null) return uri.getSocket();
        if (uri.getSentinels().isEmpty()) return uri.getHost() + ":" + uri.getPort() + "/" + uri.getDatabase();
        return uri.getSentinels().stream()
                .map(sentinel -> sentinel.getHost() + ":" + sentinel.getPort())
                .collect(Collectors.joining(", ", uri.getSentinelMasterId() + " of ", ""));
    }

    private CompletionStage<StatefulRedisConnection<String, String>> connect() {
        return client.connectAsync(StringCodec.UTF8, uri)
                .thenCompose(connection -> connection.async().info("memory").handle((memory, failure) -> {
                    Matcher policy = POLICY.matcher(failure == null ? memory : "");
                    if (!policy.find()) return connection;
                    connection.closeAsync();
                    throw new StoreUnavailableException(
                            label + " may evict documents at any time: its maxmemory-policy is " + policy.group(1)
                                    + ", must be noeviction or volatile-…; CONFIG SET maxmemory-policy noeviction",
                            null);
                }));
    }

    private RedisLane laneOf(String key) {
        if (!key.contains(":member:") && !key.endsWith(":epoch")) return locks;
        bell.refresh();
        return heartbeats;
    }

    @Override
    public CompletionStage<Optional<StoredDocument>> read(String key) {
        return laneOf(key)
                .call(redis -> redis.hmget(key, "v", "d").thenApply(fields -> {
                    List<String> values = fields.stream()
                            .flatMap((KeyValue<String, String> it) -> it.stream())
                            .toList();
                    if (values.size() < 2) return Optional.empty();
                    return Optional.of(document(key, values.get(0), values.get(1)));
                }));
    }

    private StoredDocument document(String key, String version, String text) {
        try {
            return new StoredDocument(Long.parseLong(version), text);
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException("the hash " + key + " in " + label + " is none of Baton's", e);
        }
    }

    @Override
    public CompletionStage<CasAnswer> compareAndSet(
            String key, long expected, StoredDocument next, Collection<String> rung) {
        if (next.version() <= expected) {
            throw new IllegalArgumentException("next.version = " + next.version() + ", must be above " + expected);
        }
        String[] keys = {key};
        String[] values = Stream.concat(
                        Stream.of(Long.toString(expected), Long.toString(next.version()), next.text()),
                        rung.stream().map(RedisBell::channelOf))
                .toArray(String[]::new);
        return laneOf(key)
                .call(redis -> redis.<List<String>>eval(COMPARE_AND_SET, ScriptOutputType.MULTI, keys, values)
                        .thenApply(answer -> switch (answer.size()) {
                            case 0 -> CasAnswer.conflict(Optional.empty());
                            case 1 -> CasAnswer.stored();
                            default -> CasAnswer.conflict(Optional.of(document(key, answer.get(0), answer.get(1))));
                        }));
    }

    @Override
    public CompletionStage<Boolean> delete(String key, long expected) {
        String[] keys = {key};
        return laneOf(key)
                .call(redis -> redis.<Long>eval(DELETE, ScriptOutputType.INTEGER, keys, Long.toString(expected))
                        .thenApply(deleted -> deleted == 1));
    }

    /** By the clock of the server. */
    @Override
    public CompletionStage<Long> now() {
        return locks.call(redis ->
                redis.time().thenApply(time -> Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1))));
    }

    @Override
    public AutoCloseable listen(String topic, Consumer<String> listener) {
        return bell.listen(topic, listener);
    }

    /** Closes the three connections, once the server has answered what was sent. All later calls fail. */
    @Override
    public void close() {
        locks.close()
                .thenCombine(heartbeats.close(), (a, b) -> a)
                .thenCombine(bell.close(), (a, b) -> a)
                .thenRun(client::shutdownAsync);
    }

    @Override
    public String toString() {
        return label;
    }
}
