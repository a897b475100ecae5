package baton.monitoring

import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.withLock
import java.io.File
import java.net.URLClassLoader
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Deadlock detection, switched on while locks are in use. In classes of their own, because it stays on. */
class DeadlocksEnabledLaterTest {
    @Test
    fun enable_withoutTheProperty_findsTheNextDeadlock_andLocksThatWereHeldAreUnlocked() {
        val path = System.getProperty("java.class.path").split(File.pathSeparator)
        val urls = path.map { File(it).toURI().toURL() }.toTypedArray()
        URLClassLoader(urls, ClassLoader.getPlatformClassLoader()).use { loader ->
            val program = loader.loadClass(Program::class.java.name)
            val seen = program.getMethod("run").invoke(program.getConstructor().newInstance())
            assertEquals(listOf("false", "true", "transfer a, transfer b", "unlocked"), seen)
        }
    }

    /** Loaded by another class loader, so that its result is of the JDK's types. */
    class Program {
        fun run(): List<String> {
            val before = Deadlocks.isEnabled
            var found = ""
            runTest {
                val held = Held()
                held.take(this)
                Deadlocks.enable()
                found = deadlock()
                held.giveBack(this)
            }
            return listOf("$before", "${Deadlocks.isEnabled}", found, "unlocked")
        }

        private fun TestScope.deadlock(): String {
            val (first, second) = listOf(Mutex(), Mutex())
            val transfers =
                listOf("a" to (first to second), "b" to (second to first)).map { (name, locks) ->
                    launch(CoroutineName("transfer $name")) {
                        locks.first.withLock {
                            testScheduler.runCurrent()
                            locks.second.withLock {}
                        }
                    }
                }
            runCurrent()
            Deadlocks.find()
            runBlocking { delay(2.seconds) }
            val found =
                Deadlocks.find().flatMap { it.cycle }.map { it.waiter.substringAfter('\'').substringBefore('\'') }
            transfers.forEach { it.cancel(null) }
            return found.sorted().joinToString()
        }

        /** Locks that are taken, and waited for, before the switch. */
        private class Held {
            private val mutex = Mutex()
            private val semaphore = Semaphore(1)
            private val lock = ReadWriteLock()
            private val owner = Any()

            suspend fun take(scope: TestScope) {
                mutex.lock()
                semaphore.acquire()
                lock.lockRead()
                lock.lockRead(owner)
                scope.launch { mutex.withLock {} }
                scope.launch { semaphore.acquire() }
                scope.launch { lock.lockWrite(owner = "writer") }
                scope.runCurrent()
            }

            fun giveBack(scope: TestScope) {
                mutex.unlock()
                semaphore.release()
                lock.unlockRead()
                lock.unlockRead(owner)
                scope.runCurrent()
                lock.unlockWrite("writer")
                semaphore.release()
                check(!mutex.isLocked && semaphore.availablePermits == 1 && !lock.isWriteLocked && lock.readers == 0)
            }
        }
    }
}
