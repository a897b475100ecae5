@file:JvmName("KotlinBaton")

package baton.benchmarks.start

import baton.sync.Semaphore
import kotlinx.coroutines.runBlocking

fun main() {
    runBlocking { Semaphore(1).acquire() }
    System.out.write(1)
    System.out.flush()
}
