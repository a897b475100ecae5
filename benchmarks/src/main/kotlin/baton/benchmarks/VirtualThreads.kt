package baton.benchmarks

import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors

/** By reflection, because the benchmarks are compiled for a JDK without virtual threads. */
fun virtualThreads(): ExecutorService =
    try {
        Executors::class.java.getMethod("newVirtualThreadPerTaskExecutor").invoke(null) as ExecutorService
    } catch (e: NoSuchMethodException) {
        throw UnsupportedOperationException("This peer needs virtual threads, that is JDK 21 or later", e)
    }
