package baton.test

import baton.sync.Mutex
import baton.sync.withLock
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A number of this machine, so it is no part of every build. */
class ExploreSpeedDeepTest {
    /** Each of 20 coroutines goes on 40 times: at 10 calls, at 10 waits at most, and at 10 yields inside. */
    @Test
    fun steps_areAtLeast100000ASecond() {
        val rates =
            List(10) { round ->
                var steps = 0L
                val begin = System.nanoTime()
                explore(runs = 200, seed = round.toLong()) {
                    val mutex = Mutex()
                    repeat(20) {
                        launch {
                            repeat(10) {
                                mutex.withLock {
                                    yield()
                                    steps++
                                }
                            }
                        }
                    }
                }
                // Two steps for each: one behind the call, one behind the yield.
                2 * steps * 1_000_000_000L / (System.nanoTime() - begin)
            }
        println("explore: ${rates.max()} steps a second")
        assertTrue(rates.max() >= 100_000, "steps a second: $rates")
    }
}
