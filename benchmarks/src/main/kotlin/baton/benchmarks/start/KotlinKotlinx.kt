@file:JvmName("KotlinKotlinx")

package baton.benchmarks.start

import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.sync.Semaphore

fun main() {
    runBlocking { Semaphore(1).acquire() }
    System.out.write(1)
    System.out.flush()
}
