@file:JvmName("KotlinNothing")

package baton.benchmarks.start

import kotlinx.coroutines.runBlocking

/** No permit: what a coroutine costs. */
fun main() {
    runBlocking {}
    System.out.write(1)
    System.out.flush()
}
