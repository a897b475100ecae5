package baton.distributed.redis;

import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The listeners of this store, by topic, and the connection that hears their channels. */
final class RedisBell {
    private static final String CHANNEL = "baton:bell:";

    private final ConcurrentHashMap<String, List<Consumer<String>>> listeners = new ConcurrentHashMap<>();
    private final RedisLane lane;

    RedisBell(
            String label,
            long limitMillis,
            Supplier<CompletionStage<StatefulRedisPubSubConnection<String, String>>> opener) {
        lane = new RedisLane(
                label,
                limitMillis,
                () -> opener.get().thenApply(connection -> {
                    connection.addListener(new RedisPubSubAdapter<>() {
                        @Override
                        public void message(String channel, String key) {
                            for (Consumer<String> bell : listeners.getOrDefault(channel, List.of())) bell.accept(key);
                        }
                    });
                    return connection;
                }));
    }

    static String channelOf(String topic) {
        return CHANNEL + topic;
    }

    AutoCloseable listen(String topic, Consumer<String> bell) {
        String channel = channelOf(topic);
        listeners.merge(
                channel,
                List.of(bell),
                (before, added) ->
                        Stream.concat(before.stream(), added.stream()).toList());
        refresh();
        return () -> {
            listeners.computeIfPresent(channel, (name, before) -> {
                List<Consumer<String>> left =
                        before.stream().filter(other -> other != bell).toList();
                return left.isEmpty() ? null : left;
            });
            if (!listeners.containsKey(channel))
                lane.call(redis -> pubSub(redis).unsubscribe(channel));
        };
    }

    /**
     * Subscribes once more. With each heartbeat: so a connection that is lost, or silent because its other end is gone, is
     * replaced. A ring that is not heard meanwhile costs time alone.
     */
    void refresh() {
        String[] channels = listeners.keySet().toArray(String[]::new);
        if (channels.length > 0) lane.call(redis -> pubSub(redis).subscribe(channels));
    }

    /** Those of a connection that was opened for it. */
    private static RedisPubSubAsyncCommands<String, String> pubSub(Object redis) {
        @SuppressWarnings("unchecked") // the codec is that of strings
        var commands = (RedisPubSubAsyncCommands<String, String>) redis;
        return commands;
    }

    CompletionStage<?> close() {
        return lane.close();
    }
}
