package guide.start

import baton.sync.Semaphore
import baton.sync.withPermit
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

fun main(): Unit = runBlocking {
    val uplink = Semaphore(permits = 2, name = "uplink")
    coroutineScope {
        repeat(3) { n ->
            launch {
                uplink.withPermit {
                    println("request $n begins")
                    delay(100.milliseconds)
                }
            }
        }
    }
    println(uplink)
}
