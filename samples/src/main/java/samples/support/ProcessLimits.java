package samples.support;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The number of connections that this process can have at a time. */
final class ProcessLimits {
    /** The server is in this process, so a connection has two ends. */
    private static final int FILES_PER_CONNECTION = 2;

    private static final int OTHER_FILES = 200;

    /** The buffers of both ends and the average payload, with room to spare. */
    private static final int BYTES_PER_CONNECTION = 150 << 10;

    private ProcessLimits() {}

    /** The number of connections that can be open at a time, at most {@code wanted}. */
    static int connections(int wanted) {
        Runtime runtime = Runtime.getRuntime();
        long heap = runtime.maxMemory() - (runtime.totalMemory() - runtime.freeMemory());
        long least = Math.min(wanted, heap / BYTES_PER_CONNECTION);
        if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system) {
            long files = system.getMaxFileDescriptorCount() - system.getOpenFileDescriptorCount() - OTHER_FILES;
            least = Math.min(least, files / FILES_PER_CONNECTION);
        }
        return (int) Math.max(1, least);
    }
}
