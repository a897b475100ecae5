package baton.test.corpus

import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.sync.Semaphore as KotlinxSemaphore
import kotlinx.coroutines.withTimeoutOrNull

internal val timeBugs =
    listOf(
        // Kotlin/kotlinx.coroutines #2233: the timeout comes when the permit is there, and the caller does not know.
        Bug("a permit is lost to a timeout", failure = "0 of 1 permits") { isRight ->
            val permits = KotlinxSemaphore(1)

            suspend fun tryAcquire(): Boolean {
                var isAcquired = false
                val inTime =
                    withTimeoutOrNull(50.milliseconds) {
                        permits.acquire()
                        isAcquired = true
                        call()
                        true
                    }
                return if (isRight) isAcquired else inTime == true
            }
            launch(CoroutineName("holder")) {
                permits.acquire()
                delay(50.milliseconds)
                permits.release()
            }
            launch(CoroutineName("caller")) { if (tryAcquire()) permits.release() }
            afterwards { check(permits.availablePermits == 1) { "${permits.availablePermits} of 1 permits" } }
        },
        Bug("two timers are due together", failure = "taken for dead") { isRight ->
            var beats = 0
            launch(CoroutineName("heart")) {
                repeat(3) {
                    delay(10.seconds)
                    beats++
                }
            }
            launch(CoroutineName("watchdog")) {
                repeat(3) {
                    val before = beats
                    delay(if (isRight) 10.seconds + 1.milliseconds else 10.seconds)
                    check(beats > before) { "taken for dead" }
                }
            }
        },
    )
