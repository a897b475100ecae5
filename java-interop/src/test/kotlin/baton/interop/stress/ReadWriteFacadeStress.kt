package baton.interop.stress

import baton.interop.AsyncReadWriteLock
import baton.interop.Futures
import baton.interop.Permit
import baton.interop.UpgradablePermit
import baton.interop.WritePermit
import baton.interop.ownedByOrNull
import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import java.time.Duration
import java.util.SplittableRandom
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.ForkJoinPool
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong
import kotlin.time.Duration.Companion.microseconds
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield

/** Threads and coroutines that read and write under one lock. */
internal class ReadWriteFacadeStress(policy: ReadWritePolicy, seed: Long) : FacadeRun(seed) {
    private val rw = AsyncReadWriteLock.create(policy, "stress")
    private val kotlin: ReadWriteLock = rw.kotlin()

    /** The numbers of current plain readers, upgradable readers and writers. */
    private val readers = AtomicInteger()
    private val intents = AtomicInteger()
    private val writers = AtomicInteger()
    private val granted = AtomicLong()

    /** Guarded by the lock and by nothing else: both are equal while there is no writer. */
    private var left = 0L
    private var right = 0L

    override fun toString() = "readers = $readers, upgradable = $intents, writers = $writers: $rw"

    override fun call(number: Int, random: SplittableRandom) {
        val owner = if (random.nextInt(3) == 0) Any() else null
        if (number % 2 == 1) {
            callAsCoroutine(random, owner)
            return
        }
        when (random.nextInt(8)) {
            0 -> guarded(random)
            1,
            2,
            3 -> read(random, owner)
            4,
            5 -> write(random, owner)
            else -> readUpgradably(random, owner)
        }
    }

    override fun end() {
        // Callbacks on other threads may still be about to close their permits.
        repeat(1_000) {
            Futures.await(rw.lockWrite()).close()
            if (kotlin.waiting == 0 && kotlin.readers == 0 && !kotlin.isWriteLocked) return@repeat
            Thread.yield()
        }
        check(readers.get() == 0 && intents.get() == 0 && writers.get() == 0)
        check(kotlin.waiting == 0 && kotlin.readers == 0 && kotlin.readHolders.isEmpty())
        check(rw.tryLockWrite().isPresent)
        check(left == right && left > 0 && granted.get() > left)
    }

    // Checks and changes made while the lock is held.

    private fun enterToRead(count: AtomicInteger = readers) {
        granted.incrementAndGet()
        val now = count.incrementAndGet()
        check(writers.get() == 0) { "reads beside a writer" }
        check(left == right) { "$left, $right" }
        check(count !== intents || now == 1) { "$now read upgradably" }
    }

    private fun leaveToRead(count: AtomicInteger = readers) {
        check(left == right && writers.get() == 0) { "$left, $right, while a reader holds the lock" }
        count.decrementAndGet()
    }

    private fun writeInside() {
        granted.incrementAndGet()
        check(writers.incrementAndGet() == 1) { "$writers write" }
        check(readers.get() == 0 && intents.get() == 0) { "writes beside $readers readers, $intents upgradable" }
        left++
        right++
        writers.decrementAndGet()
    }

    // Futures.

    private fun <P : Permit> finish(future: CompletableFuture<P>, random: SplittableRandom): P? {
        if (random.nextInt(2) == 0) interfere(future, random)
        return outcome(future)
    }

    private fun time(random: SplittableRandom) = Duration.ofNanos(random.nextLong(200_000))

    private fun read(random: SplittableRandom, owner: Any?) {
        val future =
            when (random.nextInt(3)) {
                0 -> rw.lockRead(time(random))
                1 -> rw.ownedByOrNull(owner).lockRead(ForkJoinPool.commonPool())
                else -> rw.ownedByOrNull(owner).lockRead()
            }
        // The callback and the thread that ends the future get the same permit, which is closed once.
        if (random.nextInt(4) == 0) {
            future.thenAccept { it?.close() }
            return
        }
        val permit = finish(future, random) ?: return
        enterToRead()
        leaveToRead()
        permit.close()
    }

    private fun write(random: SplittableRandom, owner: Any?) {
        val future =
            when (random.nextInt(3)) {
                0 -> rw.lockWrite(time(random))
                1 -> rw.ownedByOrNull(owner).lockWrite(ForkJoinPool.commonPool())
                else -> rw.ownedByOrNull(owner).lockWrite()
            }
        writeAndLeave(finish(future, random) ?: return, random)
    }

    private fun writeAndLeave(permit: WritePermit, random: SplittableRandom) {
        writeInside()
        when (random.nextInt(3)) {
            0 -> permit.close()
            1 -> {
                val seen = left
                permit.downgrade()
                enterToRead()
                check(seen == left) { "another writer wrote during the downgrade" }
                leaveToRead()
                permit.close()
            }
            else -> {
                val other = CompletableFuture.runAsync { permit.close() }
                try {
                    permit.downgrade()
                } catch (_: IllegalStateException) {
                    // The other thread has closed the permit before.
                }
                Futures.await(other)
            }
        }
    }

    private fun readUpgradably(random: SplittableRandom, owner: Any?) {
        val future =
            when (random.nextInt(3)) {
                0 -> rw.lockUpgradable(time(random))
                1 -> rw.ownedByOrNull(owner).lockUpgradable(ForkJoinPool.commonPool())
                else -> rw.ownedByOrNull(owner).lockUpgradable()
            }
        val permit = finish(future, random) ?: return
        enterToRead(intents)
        repeat(random.nextInt(3)) {
            val seen = left
            leaveToRead(intents)
            if (random.nextInt(4) == 0) {
                closeWhileUpgrading(permit)
                return
            }
            val writes = upgrade(permit, random)
            if (writes != null) {
                check(seen == left) { "another writer wrote during the upgrade" }
                writeAndLeave(writes, random)
                return
            }
            enterToRead(intents)
            check(seen == left) { "another writer wrote during a failed upgrade" }
        }
        leaveToRead(intents)
        permit.close()
    }

    private fun upgrade(permit: UpgradablePermit, random: SplittableRandom): WritePermit? {
        val upgrade =
            when (random.nextInt(4)) {
                0 -> return permit.tryUpgrade().orElse(null)
                // Only its timer ends it: ended by two threads, it may be done before the permit is upgradable.
                1 -> return outcome(permit.upgrade(time(random)))
                2 -> permit.upgrade(ForkJoinPool.commonPool())
                else -> permit.upgrade()
            }
        return finish(upgrade, random)
    }

    private fun closeWhileUpgrading(permit: UpgradablePermit) {
        val other = CompletableFuture.runAsync { permit.close() }
        val upgrade = permit.upgrade()
        try {
            // The permit was upgraded first, or the upgrade was cancelled, or refused because the permit was closed.
            upgrade.handle { _, _ -> }.join()
        } finally {
            Futures.await(other)
        }
    }

    private fun guarded(random: SplittableRandom) {
        val later = random.nextInt(2) == 0
        val pool = if (random.nextInt(2) == 0) ForkJoinPool.commonPool() else null

        fun stage(end: () -> Unit): CompletionStage<Permit> {
            val source = CompletableFuture<Permit>()
            if (later) source.completeAsync { null } else source.complete(null)
            // The stage cannot be cancelled, so `end` has run once its end is visible.
            return source.whenComplete { _, _ -> end() }.minimalCompletionStage()
        }

        val reads = {
            enterToRead()
            stage { leaveToRead() }
        }
        val writes = { stage { writeInside() } }
        val call =
            if (random.nextInt(2) == 0) {
                if (pool == null) rw.withRead(reads) else rw.withRead(reads, pool)
            } else {
                if (pool == null) rw.withWrite(writes) else rw.withWrite(writes, pool)
            }
        finish(call, random)
    }

    // Coroutines.

    private fun callAsCoroutine(random: SplittableRandom, owner: Any?) {
        val dice = random.nextInt(3_000)
        val start = if (dice % 2 == 0) CoroutineStart.DEFAULT else CoroutineStart.UNDISPATCHED
        runBlocking {
            val job =
                async(Dispatchers.Default, start) {
                    when (dice % 5) {
                        0 -> if (kotlin.tryLockWrite((dice % 300).microseconds, owner)) writeAndUnlock(owner)
                        1 -> {
                            kotlin.lockWrite(owner)
                            writeAndUnlock(owner)
                        }
                        2 -> upgradeAndUnlock(owner)
                        else -> {
                            kotlin.lockRead(owner)
                            enterToRead()
                            leaveToRead()
                            kotlin.unlockRead(owner)
                        }
                    }
                }
            if (dice % 7 < 3) {
                yield()
                job.cancel()
            }
            job.join()
        }
    }

    private fun writeAndUnlock(owner: Any?) {
        writeInside()
        kotlin.unlockWrite(owner)
    }

    private suspend fun upgradeAndUnlock(owner: Any?) {
        kotlin.lockUpgradable(owner)
        var upgraded = false
        try {
            kotlin.upgrade(owner)
            upgraded = true
            writeInside()
        } finally {
            if (upgraded) kotlin.unlockWrite(owner) else kotlin.unlockUpgradable(owner)
        }
    }
}
