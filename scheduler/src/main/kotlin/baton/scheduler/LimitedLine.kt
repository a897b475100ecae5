package baton.scheduler

import baton.scheduler.Counts.Companion.blockOf
import baton.waiting.FlatStack

/*
 * How it works
 *
 * At most `parallelism` blocks of this line run at a time. For each of them the line beneath gets a Turn, which carries
 * no block: when the turn comes, the block is chosen that is most urgent then.
 *
 * (1) `turns` is the number of turns that stand in the line beneath or run. While blocks wait here, it is at least 1,
 *     and it is `parallelism` if that many blocks wait or run.
 * (2) A turn stands at a level. For every level l: of the blocks at l or above that wait here, as many have a turn that
 *     stands at l or above as there are turns that do not run. For that, the least urgent turn is declared over, and
 *     one at the level of a newcomer takes its place. So nothing waits here behind less urgent work there.
 * (3) When a block has run, its turn goes to the most urgent block that has none yet, and stands in line anew.
 *
 * All of it is guarded by `lock`; while it is held nothing is enqueued beneath and no block runs.
 */
internal class LimitedLine(private val beneath: Line, override val parallelism: Int) : Line() {
    private val lock = Any()
    private val queues = Array(LEVELS.size) { ArrayDeque<Runnable>() }

    /** The turns that stand in the line beneath, by their levels. */
    private val standing = Array(LEVELS.size) { LinkedHashSet<Turn>() }
    private val picker = beneath.root.policy.picker()
    private val counts = Counts()
    private val picks = counts.local()
    private var turns = 0

    /** How many turns were declared over since the line beneath was last swept of them. */
    private var over = 0L

    /** Written under the lock. */
    @Volatile
    private var ownMask = 0

    override val root: PriorityCore get() = beneath.root

    override val mask: Int get() = ownMask or beneath.mask

    init {
        root.lifts.add(this)
    }

    override fun enqueue(level: Int, block: Runnable) {
        val entry = counts.sampled(block)
        val turn =
            synchronized(lock) {
                queues[level].addLast(entry)
                ownMask = ownMask or (1 shl level)
                turnFor(level)
            }
        if (turn != null) enqueueBeneath(turn)
    }

    /** Invariant 1. */
    private fun turnFor(level: Int): Turn? {
        if (turns == parallelism) return raise(level)
        turns++
        return stand(level)
    }

    /** Invariant 2, for [level]. */
    private fun raise(level: Int): Turn? {
        if ((0..level).sumOf { standing[it].size } >= (0..level).sumOf { queues[it].size }) return null
        val least = standing.indexOfLast { it.isNotEmpty() }
        if (least <= level) return null
        val last = standing[least].first()
        standing[least].remove(last)
        last.isOver = true
        over++
        return stand(level)
    }

    private fun stand(level: Int) = Turn(this, level).also { standing[level].add(it) }

    /** It is the turn of [turn]; the block to run, or null when it is over, or others have taken all blocks. */
    fun begin(turn: Turn): Runnable? {
        var raised: Turn? = null
        val block =
            synchronized(lock) {
                if (!standing[turn.level].remove(turn)) return null
                val mask = ownMask
                if (mask == 0) {
                    turns--
                    return null
                }
                val level = picker.next(mask)
                picker.served(level, mask)
                picks.count(level, isForced = level != mask.mostUrgent())
                picks.publish()
                val entry = queues[level].removeFirst()
                forgetIfEmpty(level)
                // A less urgent block, which was due, has taken the turn of a more urgent one: one is missing there.
                if (level > turn.level) raised = (turn.level until level).firstNotNullOfOrNull(::raise)
                picks.started(entry, level)
            }
        raised?.let(::enqueueBeneath)
        return block
    }

    /** The block of a turn has run: invariant 3. */
    fun end() {
        val next =
            synchronized(lock) {
                val level = levelOfNth(standing.sumOf { it.size })
                if (level < 0) turns--
                if (level < 0) null else stand(level)
            }
        if (next != null) enqueueBeneath(next)
    }

    private fun enqueueBeneath(turn: Turn) {
        beneath.enqueue(turn.level, turn)
        val isMuch =
            synchronized(lock) {
                val isMuch = over > FEW + 2 * parallelism.toLong()
                if (isMuch) over = 0
                isMuch
            }
        if (isMuch) beneath.sweep()
    }

    override fun sweep() {
        synchronized(lock) {
            for (level in queues.indices) {
                queues[level].removeAll { it is Turn && it.isOver }
                forgetIfEmpty(level)
            }
        }
    }

    /** The level of the block that has [index] others before it, by urgency; -1 if there is none. */
    private fun levelOfNth(index: Int): Int {
        var before = index
        for (level in queues.indices) {
            before -= queues[level].size
            if (before < 0) return level
        }
        return -1
    }

    override fun remove(level: Int, block: Runnable): Boolean =
        synchronized(lock) {
            val index = queues[level].indexOfFirst { blockOf(it) === block }
            if (index >= 0) {
                queues[level].removeAt(index)
                forgetIfEmpty(level)
            }
            index >= 0
        }

    private fun forgetIfEmpty(level: Int) {
        if (queues[level].isEmpty()) ownMask = ownMask and (1 shl level).inv()
    }

    override fun blocks(level: Int): List<Runnable> = synchronized(lock) { queues[level].map(::blockOf) }

    override fun metrics(): DispatcherMetrics =
        synchronized(lock) { counts.metrics(workers = turns) { level -> queues[level].size } }

    private companion object {
        const val FEW = 64
    }
}

/** A place in the line beneath, for whatever is most urgent in [line] when it comes. */
internal class Turn(private val line: LimitedLine, val level: Int) : Runnable {
    /** Another stands in its place. */
    @Volatile
    var isOver = false

    override fun run() {
        val block = line.begin(this) ?: return
        try {
            block.run()
        } catch (e: Throwable) {
            FlatStack.report(e)
        } finally {
            line.end()
        }
    }
}
