package baton.interop

import baton.sync.Latch
import baton.sync.WaitGroup
import baton.sync.countdown.CountdownContract
import baton.sync.countdown.CountdownFace
import baton.sync.countdown.KotlinLatchFace
import baton.sync.countdown.KotlinWaitGroupFace
import baton.sync.countdown.MixedCountdownFace
import baton.sync.countdown.MixedWaitGroupFace
import baton.sync.countdown.SelectLatchFace
import baton.sync.countdown.SelectWaitGroupFace
import baton.sync.countdown.WaitGroupContract
import baton.sync.countdown.WaitGroupFace
import baton.sync.countdown.waitGroup
import java.util.concurrent.CompletableFuture
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.future.await

private suspend fun inTime(future: CompletableFuture<*>): Boolean =
    try {
        future.await()
        true
    } catch (_: java.util.concurrent.TimeoutException) {
        false
    }

class JavaLatchFace(private val latch: AsyncLatch) : CountdownFace {
    constructor(
        count: Int,
        name: String?,
    ) : this(if (name == null) AsyncLatch.create(count) else AsyncLatch.create(count, name))

    override val count: Int
        get() = latch.count()

    override val waiting: Int
        get() = latch.waiting()

    override fun down() = latch.countDown()

    override suspend fun await() {
        latch.await().await()
    }

    /** The timeout runs in real time. */
    override suspend fun await(timeout: Duration) = inTime(latch.await(timeout.toJavaDuration()))

    override fun toString() = latch.toString()
}

class JavaWaitGroupFace(private val group: AsyncWaitGroup) : WaitGroupFace {
    constructor(count: Int, name: String?) : this(AsyncWaitGroup.of(waitGroup(count, name)))

    override val count: Int
        get() = group.count()

    override val waiting: Int
        get() = group.waiting()

    override fun add(n: Int) = if (n == 1) group.add() else group.add(n)

    override fun down() = group.done()

    override suspend fun await() {
        group.await().await()
    }

    /** The timeout runs in real time. */
    override suspend fun await(timeout: Duration) = inTime(group.await(timeout.toJavaDuration()))

    override fun toString() = group.toString()
}

private fun mixed(latch: Latch) =
    MixedCountdownFace(listOf(JavaLatchFace(AsyncLatch.of(latch)), KotlinLatchFace(latch), SelectLatchFace(latch)))

private fun mixed(group: WaitGroup) =
    MixedWaitGroupFace(
        listOf(JavaWaitGroupFace(AsyncWaitGroup.of(group)), KotlinWaitGroupFace(group), SelectWaitGroupFace(group))
    )

// Left out, as in the other contracts: timeouts in virtual time and the topic of dispatchers.

class JavaLatchTest : CountdownContract(::JavaLatchFace)

class JavaWaitGroupTest : WaitGroupContract(::JavaWaitGroupFace)

class MixedJavaKotlinLatchTest : CountdownContract({ count, name -> mixed(Latch(count, name)) })

class MixedJavaKotlinWaitGroupTest : WaitGroupContract({ count, name -> mixed(waitGroup(count, name)) })
