package baton.interop;

import baton.PermitTimeoutException;
import baton.interop.internal.futures.Late;
import baton.interop.internal.futures.SharedLockFuture;
import baton.interop.internal.futures.Timeout;
import baton.shared.SharedCondition;
import baton.shared.SharedLock;
import baton.shared.SharedMutex;
import baton.shared.SharedRegion;
import baton.shared.SharedRegionException;
import baton.shared.SharedRegionOptions;
import baton.shared.WaitMode;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A {@link SharedRegion} for Java: a file in memory that several processes share, with locks,
 * semaphores, barriers, wait groups and data in it by name.
 *
 * <pre>{@code
 * try (AsyncSharedRegion region = AsyncSharedRegion.open(Path.of("/dev/shm/app"))) {
 *     ByteBuffer bytes = region.bytes("counter", 8);
 *     try (SharedLock lock = region.mutex("counter").lockBlocking()) {
 *         if (lock.getAbandoned()) {
 *             repair(bytes);
 *             lock.markConsistent();
 *         }
 *         bytes.putLong(0, bytes.getLong(0) + 1);
 *     }
 * }
 * }</pre>
 *
 * <p>It needs the artifact {@code io.github.baton-kt:baton-shared}, which {@code baton-java-interop} does not bring, and
 * a program on the module path {@code requires baton.shared}.
 *
 * <p>It has no state of its own. The file, its side file, names, the death of processes and the refusals are described
 * at {@link SharedRegion}.
 */
@SuppressWarnings("exports") // of baton.shared, which the callers require
public final class AsyncSharedRegion implements AutoCloseable {
    private final SharedRegion region;

    private AsyncSharedRegion(SharedRegion region) {
        this.region = region;
    }

    /** The Java API of the given region; the two share all state. */
    public static AsyncSharedRegion of(SharedRegion region) {
        return new AsyncSharedRegion(Objects.requireNonNull(region, "region"));
    }

    /**
     * Opens the region in the file {@code path}, and makes the file if it is missing or empty.
     *
     * @throws IllegalStateException if {@code baton-shared} is missing
     * @throws SharedRegionException if the file is refused; the message names it and the reason
     */
    public static AsyncSharedRegion open(Path path) {
        requireArtifact();
        return open(path, new SharedRegionOptions());
    }

    /** Callers of the other methods name a class of the artifact themselves. */
    private static void requireArtifact() {
        try {
            Class.forName("baton.shared.SharedRegion", false, AsyncSharedRegion.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(
                    "AsyncSharedRegion needs the artifact io.github.baton-kt:baton-shared, in the version of"
                            + " baton-java-interop; on the module path, the program also needs `requires baton.shared`",
                    e);
        }
    }

    /**
     * As {@link #open(Path)}, with options.
     *
     * @throws SharedRegionException if the file is refused; the message names it and the reason
     */
    public static AsyncSharedRegion open(Path path, SharedRegionOptions options) {
        Objects.requireNonNull(path, "path");
        return of(SharedRegion.open(path, Objects.requireNonNull(options, "options")));
    }

    /** The Kotlin region behind this. */
    public SharedRegion kotlin() {
        return region;
    }

    /** How this process waits for others. */
    public WaitMode waiting() {
        return region.getWaiting();
    }

    /**
     * The mutex {@code name}.
     *
     * @throws IllegalArgumentException if the name is not 1 to 64 bytes of UTF-8
     * @throws SharedRegionException if the name is of another kind, there is no room, or the region has ended
     */
    public AsyncSharedMutex mutex(String name) {
        return AsyncSharedMutex.of(region.mutex(Objects.requireNonNull(name, "name")));
    }

    /**
     * The semaphore {@code name} with {@code permits} permits.
     *
     * @param permits 1 to 1,048,575, the same in every call and process
     * @throws IllegalArgumentException if the name or the number is out of range
     * @throws SharedRegionException if the name is of another kind or has another number of permits, there is no room,
     *     or the region has ended
     */
    public AsyncSharedSemaphore semaphore(String name, int permits) {
        return AsyncSharedSemaphore.of(region.semaphore(Objects.requireNonNull(name, "name"), permits));
    }

    /**
     * The barrier {@code name} for {@code parties} parties.
     *
     * @param parties 1 to 1,048,575, the same in every call and process
     * @throws IllegalArgumentException if the name or the number is out of range
     * @throws SharedRegionException if the name is of another kind or has another number of parties, there is no room,
     *     or the region has ended
     */
    public AsyncSharedBarrier barrier(String name, int parties) {
        return AsyncSharedBarrier.of(region.barrier(Objects.requireNonNull(name, "name"), parties));
    }

    /**
     * The wait group {@code name}.
     *
     * @throws IllegalArgumentException if the name is not 1 to 64 bytes of UTF-8
     * @throws SharedRegionException if the name is of another kind, there is no room, or the region has ended
     */
    public AsyncSharedWaitGroup waitGroup(String name) {
        return AsyncSharedWaitGroup.of(region.waitGroup(Objects.requireNonNull(name, "name")));
    }

    /**
     * The piece of memory {@code name}, zeroed when it is new, in native byte order, at an address divisible by 64. Each
     * call returns a buffer with a position and limit of its own. The memory has no lock: guard it by a mutex, whose
     * lock publishes what earlier holders wrote.
     *
     * @param size 1 to 1,048,576 bytes, the same in every call and process
     * @throws IllegalArgumentException if the name or the size is out of range
     * @throws SharedRegionException if the name has another size, there is no room, or the region has ended
     */
    public ByteBuffer bytes(String name, int size) {
        return region.bytes(Objects.requireNonNull(name, "name"), size);
    }

    /**
     * Ends this member: futures and threads of this process that wait fail with {@link SharedRegionException}. The locks
     * that it holds become abandoned, its permits return, its work is taken off wait groups, and barriers at which it
     * has arrived break. A second close does nothing.
     */
    @Override
    public void close() {
        region.close();
    }

    @Override
    public String toString() {
        return "Async" + region;
    }

    /**
     * A {@link SharedMutex} for Java: mutual exclusion between processes, whose next holder is told if one died.
     *
     * <pre>{@code
     * CompletableFuture<Void> stored = region.mutex("counter").lock().thenAccept(lock -> {
     *     try (lock) {
     *         bytes.putLong(0, bytes.getLong(0) + 1);
     *     }
     * });
     * }</pre>
     *
     * <p>Java futures, threads and Kotlin coroutines of one process wait in one queue, first come first served. Between
     * processes there is no order. The lock belongs to the region and to the {@link SharedLock}, never to a thread: any
     * thread may close it. It is not reentrant.
     *
     * <p><i>Death.</i> A lock that passes on from a dead process has {@link SharedLock#getAbandoned()} set, until a
     * holder calls {@link SharedLock#markConsistent()}. A future or a call that gets such a lock succeeds.
     *
     * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, or letting {@code orTimeout} expire
     * withdraws the request. A lock that is granted at the same moment passes on.
     *
     * <p><i>Callbacks.</i> Dependents of a future that had to wait run on the thread that unlocks in this process, or on
     * a callback thread. They must not block for long.
     *
     * <p><i>Memory.</i> Actions before the close of a lock happen before the actions that follow the next lock, in any
     * process.
     */
    public static final class AsyncSharedMutex {
        private final SharedMutex mutex;

        private AsyncSharedMutex(SharedMutex mutex) {
            this.mutex = mutex;
        }

        /** The Java API of the given mutex; the two share all state. */
        public static AsyncSharedMutex of(SharedMutex mutex) {
            return new AsyncSharedMutex(Objects.requireNonNull(mutex, "mutex"));
        }

        /** The Kotlin mutex behind this. */
        public SharedMutex kotlin() {
            return mutex;
        }

        /**
         * The condition {@code name} of this mutex, whose calls block: {@link SharedCondition#awaitBlocking}. It has no
         * futures, because a future that was cancelled could not hold the lock again.
         *
         * @throws IllegalArgumentException if the name is not 1 to 64 bytes of UTF-8
         * @throws SharedRegionException if there is no room, or the region has ended
         */
        public SharedCondition condition(String name) {
            return mutex.condition(Objects.requireNonNull(name, "name"));
        }

        /** Its name in the region. */
        public String name() {
            return mutex.getName();
        }

        /**
         * A future that completes when this caller holds the mutex. It fails with {@link SharedRegionException} if the
         * region has ended, or ends while the request waits.
         */
        public CompletableFuture<SharedLock> lock() {
            CompletableFuture<SharedLock> decided = atOnce();
            return decided != null ? decided : SharedLockFuture.enqueue(mutex);
        }

        /**
         * As {@link #lock()}, but fails with {@link PermitTimeoutException} if the mutex is not granted in time; then this
         * caller does not hold it. With zero or less it succeeds or fails at once. The timeout is rounded up to whole
         * milliseconds.
         */
        public CompletableFuture<SharedLock> lock(Duration timeout) {
            long millis = Timeout.millis(timeout);
            CompletableFuture<SharedLock> decided = atOnce();
            if (decided != null) return decided;
            if (millis > 0) return SharedLockFuture.enqueue(mutex, timeout);
            return CompletableFuture.failedFuture(Late.lock(timeout, mutex));
        }

        /**
         * Locks if that needs no waiting. It may take the lock of a dead process, and finds a death within 25 ms of
         * repeated calls.
         *
         * @throws SharedRegionException if the region has ended
         */
        public Optional<SharedLock> tryLock() {
            return Optional.ofNullable(mutex.tryLock());
        }

        /**
         * Locks, blocking the thread while it waits. A virtual thread leaves its carrier.
         *
         * @throws InterruptedException if the thread is interrupted before it holds the lock; it holds nothing then
         * @throws SharedRegionException if the region has ended, or ends while the caller waits
         */
        public SharedLock lockBlocking() throws InterruptedException {
            return mutex.lockBlocking();
        }

        /**
         * As {@link #lockBlocking()}, but waits {@code timeout} at most; empty if the lock was not free in time. With
         * zero or less it does not wait.
         *
         * @throws InterruptedException if the thread is interrupted before it holds the lock; it holds nothing then
         * @throws SharedRegionException if the region has ended, or ends while the caller waits
         */
        public Optional<SharedLock> lockBlocking(Duration timeout) throws InterruptedException {
            return Optional.ofNullable(mutex.lockBlocking(Objects.requireNonNull(timeout, "timeout")));
        }

        /**
         * The id of the process that holds the mutex, empty if none does; see {@link SharedMutex#getHolder()}.
         *
         * @throws SharedRegionException if the region has ended
         */
        public OptionalLong holder() {
            Long process = mutex.getHolder();
            return process == null ? OptionalLong.empty() : OptionalLong.of(process);
        }

        @Override
        public String toString() {
            return "Async" + mutex;
        }

        /** The completed future of a request that need not wait, or null. */
        private @Nullable CompletableFuture<SharedLock> atOnce() {
            try {
                SharedLock lock = mutex.tryLock();
                return lock == null ? null : CompletableFuture.completedFuture(lock);
            } catch (SharedRegionException e) {
                return CompletableFuture.failedFuture(e);
            }
        }
    }
}
