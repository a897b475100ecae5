package samples.support;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * The heap in use after collections, without the part that was in use at the beginning: this JVM may be that of
 * Maven, which has a heap of its own. All methods may be called from any thread.
 */
public final class HeapMeter implements AutoCloseable {
    private final List<NotificationEmitter> collectors = ManagementFactory.getGarbageCollectorMXBeans().stream()
            .filter(NotificationEmitter.class::isInstance)
            .map(NotificationEmitter.class::cast)
            .toList();
    private final Set<String> pools = ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .map(MemoryPoolMXBean::getName)
            .collect(Collectors.toSet());
    private final NotificationListener listener = (notification, handback) -> collected(notification);
    private final long before;

    /** In milliseconds since the start of the JVM, as are the ends of collections. */
    private final long start;

    private long latest;
    private long now;
    private long peak;

    /** Begins to measure, after a collection. */
    public HeapMeter() {
        before = collect();
        start = uptime();
        latest = start;
        collectors.forEach(collector -> collector.addNotificationListener(listener, null, null));
    }

    private static long uptime() {
        return ManagementFactory.getRuntimeMXBean().getUptime();
    }

    private static long collect() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private void collected(Notification notification) {
        if (!notification.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) return;
        GcInfo collection = GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData())
                .getGcInfo();
        long bytes = collection.getMemoryUsageAfterGc().entrySet().stream()
                .filter(pool -> pools.contains(pool.getKey()))
                .mapToLong(pool -> pool.getValue().getUsed())
                .sum();
        used(bytes, collection.getEndTime());
    }

    /**
     * Notifications come late, from a thread of their own: of collections before the first one here, which do not
     * count, and of such as a later look has replaced, which count for the peak alone.
     */
    synchronized void used(long bytes, long end) {
        if (end < start) return;
        long more = Math.max(0, bytes - before);
        peak = Math.max(peak, more);
        if (end < latest) return;
        latest = end;
        now = more;
    }

    /** Measures after a collection of everything. */
    public synchronized void look() {
        long bytes = collect();
        // The notification of this collection has an end of the same millisecond at most.
        used(bytes, uptime() + 1);
    }

    /** The bytes in use after the latest collection. */
    synchronized long used() {
        return now;
    }

    /** The greatest value so far. */
    synchronized long peak() {
        return peak;
    }

    @Override
    public void close() {
        for (NotificationEmitter collector : collectors) {
            try {
                collector.removeNotificationListener(listener);
            } catch (ListenerNotFoundException never) {
                throw new AssertionError(never);
            }
        }
    }
}
