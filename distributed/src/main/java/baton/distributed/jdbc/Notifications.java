package baton.distributed.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The notifications of a connection of PostgreSQL. By reflection: its driver is the user's, and may come from another
 * class loader.
 */
final class Notifications {
    private final Object connection;
    private final Method get;
    private final Method name;
    private final Method parameter;

    /** One that was sent to a channel to which the connection listens. */
    record Notification(String channel, String payload) {}

    private Notifications(Object connection, Class<?> type) throws ReflectiveOperationException {
        this.connection = connection;
        get = type.getMethod("getNotifications", int.class);
        Class<?> notification = Class.forName("org.postgresql.PGNotification", false, type.getClassLoader());
        name = notification.getMethod("getName");
        parameter = notification.getMethod("getParameter");
    }

    /** Of this connection, perhaps of a pool. Null if the driver is another one, or the connection hides it. */
    static @Nullable Notifications of(Connection connection) throws SQLException {
        Set<@Nullable ClassLoader> loaders = new LinkedHashSet<>(Arrays.asList(
                connection.unwrap(Connection.class).getClass().getClassLoader(),
                Thread.currentThread().getContextClassLoader(),
                Notifications.class.getClassLoader()));
        for (ClassLoader loader : loaders) {
            try {
                Class<?> type = Class.forName("org.postgresql.PGConnection", false, loader);
                if (connection.isWrapperFor(type)) return new Notifications(connection.unwrap(type), type);
            } catch (ReflectiveOperationException e) {
                // The next one may have it.
            }
        }
        return null;
    }

    /** Waits until there is one, but for the given time at most. */
    List<Notification> await(int millis) throws SQLException {
        List<Notification> all = new ArrayList<>();
        try {
            Object[] found = (Object[]) get.invoke(connection, millis);
            if (found == null) return all;
            for (Object one : found)
                all.add(new Notification((String) name.invoke(one), (String) parameter.invoke(one)));
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof SQLException cause) throw cause;
            throw new SQLException(e.getCause());
        } catch (IllegalAccessException e) {
            throw new SQLException(e);
        }
        return all;
    }
}
