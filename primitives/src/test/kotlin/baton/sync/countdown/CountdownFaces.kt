package baton.sync.countdown

import baton.sync.Latch
import baton.sync.WaitGroup
import kotlin.time.Duration
import kotlinx.coroutines.selects.SelectClause0
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select

/** A group to which [count] have been added. */
fun waitGroup(count: Int, name: String? = null): WaitGroup = WaitGroup(name).also { if (count > 0) it.add(count) }

/** The suspend functions. */
class KotlinLatchFace(private val latch: Latch) : CountdownFace {
    constructor(count: Int, name: String?) : this(Latch(count, name))

    override val count: Int
        get() = latch.count

    override val waiting: Int
        get() = latch.waiting

    override fun down() = latch.countDown()

    override suspend fun await() = latch.await()

    override suspend fun await(timeout: Duration) = latch.await(timeout)

    override fun toString() = latch.toString()
}

/** The suspend functions. */
class KotlinWaitGroupFace(private val group: WaitGroup) : WaitGroupFace {
    constructor(count: Int, name: String?) : this(waitGroup(count, name))

    override val count: Int
        get() = group.count

    override val waiting: Int
        get() = group.waiting

    override fun add(n: Int) = group.add(n)

    override fun down() = group.done()

    override suspend fun await() = group.await()

    override suspend fun await(timeout: Duration) = group.await(timeout)

    override fun toString() = group.toString()
}

private suspend fun awaitIn(clause: SelectClause0) = select { clause {} }

private suspend fun awaitIn(clause: SelectClause0, timeout: Duration) = select {
    clause { true }
    onTimeout(timeout) { false }
}

/** All waiters of the latch wait in a `select`. */
class SelectLatchFace(private val latch: Latch) : CountdownFace by KotlinLatchFace(latch) {
    constructor(count: Int, name: String?) : this(Latch(count, name))

    override suspend fun await() = awaitIn(latch.onAwait)

    override suspend fun await(timeout: Duration) = awaitIn(latch.onAwait, timeout)

    override fun toString() = latch.toString()
}

/** All waiters of the group wait in a `select`. */
class SelectWaitGroupFace(private val group: WaitGroup) : WaitGroupFace by KotlinWaitGroupFace(group) {
    constructor(count: Int, name: String?) : this(waitGroup(count, name))

    override suspend fun await() = awaitIn(group.onAwait)

    override suspend fun await(timeout: Duration) = awaitIn(group.onAwait, timeout)

    override fun toString() = group.toString()
}

/** The APIs of one latch alternate, in one queue. */
open class MixedCountdownFace(private val faces: List<CountdownFace>) : CountdownFace by faces[0] {
    private var turn = 0

    private fun next() = faces[turn++ % faces.size]

    override suspend fun await() = next().await()

    override suspend fun await(timeout: Duration) = next().await(timeout)

    override fun toString() = faces[0].toString()
}

/** The APIs of one group alternate, in one queue. */
class MixedWaitGroupFace(faces: List<WaitGroupFace>) : MixedCountdownFace(faces), WaitGroupFace {
    private val group = faces[0]

    override fun add(n: Int) = group.add(n)
}
