package samples

import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.withPermit
import baton.sync.withRead
import baton.sync.withWrite
import java.io.PrintStream
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.future.await
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import samples.support.Cli
import samples.support.DiskCache

/**
 * A cache on disk that sixty coroutines read while two rewrite it. Without a lock some reads are torn; with a lock that
 * admits ten readers at a time or one writer none is. `samples.java.CacheLock` is the same in Java.
 */
object CacheLock {
    private const val READERS = 60
    private const val READS = 3
    private const val WRITERS = 2
    private const val WRITES = 10

    private suspend fun load(cache: DiskCache) =
        cache.startReading().use { reading -> repeat(DiskCache.PARTS) { reading.readPart().await() } }

    private suspend fun store(cache: DiskCache, version: Int) =
        cache.startWriting(version).use { writing -> repeat(DiskCache.PARTS) { writing.writePart().await() } }

    /** Runs all at the same time. */
    private suspend fun use(cache: DiskCache, load: suspend () -> Unit, store: suspend (version: Int) -> Unit) =
        coroutineScope {
            repeat(WRITERS) { writer -> launch { repeat(WRITES) { store(1 + writer * WRITES + it) } } }
            repeat(READERS) { launch { repeat(READS) { load() } } }
            // Each of them requests its first part, and waits.
            yield()
            cache.begin()
        }

    private fun withoutLock(out: PrintStream) =
        DiskCache().use { cache ->
            runBlocking { use(cache, load = { load(cache) }, store = { version -> store(cache, version) }) }
            cache.report(out, "Without a lock")
        }

    private fun withLock(out: PrintStream) =
        DiskCache().use { cache ->
            val lock = ReadWriteLock(name = "cache")
            val readers = Semaphore(DiskCache.READERS)
            runBlocking {
                use(
                    cache,
                    load = { lock.withRead { readers.withPermit { load(cache) } } },
                    store = { version -> lock.withWrite { store(cache, version) } },
                )
            }
            cache.report(out, "With a read-write lock, ten readers at a time")
        }

    /** Returns the exit code: 0 if reads were torn without the lock and none with it. */
    fun run(args: Array<String>, out: PrintStream, err: PrintStream): Int =
        Cli.runWithoutOptions(args, err) {
            val torn = !withoutLock(out)
            val whole = withLock(out)
            torn && whole
        }

    @JvmStatic fun main(args: Array<String>) = Cli.exit(run(args, System.out, System.err))
}
