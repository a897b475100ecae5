package baton.lincheck.world

import org.jetbrains.kotlinx.lincheck.Actor
import org.jetbrains.kotlinx.lincheck.CTestStructure
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario
import org.jetbrains.lincheck.datastructures.CTestConfiguration
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.RandomProvider

/** An operation that most scenarios do without: it changes nothing, or it leaves little that can happen afterwards. */
@Target(AnnotationTarget.FUNCTION) annotation class Rare

/**
 * Generates scenarios as [PromptCancellationGenerator] does, from the same fixed seed: two of three have two threads
 * with [MOST_ACTORS] operations each, the third has [MOST_THREADS] with one operation less. So one check has both: it
 * is configured for the greater numbers, and the scenarios are cut. The generator keeps the ones that are worth their
 * time:
 * - no scenario twice;
 * - one [Rare] operation in every second scenario, and none in the others: the results of the other operations show as
 *   much as an observation does;
 * - an operation that may wait, if the test has one;
 * - at most one cancelled operation: cancelling takes ten times as long as any other operation;
 * - a grant of the initial part belongs to one of the parallel threads, which can release it. For Lincheck, the initial
 *   part is a thread of its own.
 */
internal class ScenarioGenerator(configuration: CTestConfiguration, structure: CTestStructure, random: RandomProvider) :
    PromptCancellationGenerator(configuration, structure, random) {
    private val choice = random.createRandom()
    private val known = HashSet<String>()
    private var generated = 0
    private val canWait = structure.actorGenerators.any { it.isSuspendable }

    override fun nextExecution(): ExecutionScenario {
        val rareOnes = choice.nextInt(2)
        val threads = if (++generated % ROUND == 0) MOST_THREADS else MOST_THREADS - 1
        var scenario = nextOf(threads)
        var tries = 0
        // A test with few operations runs out of new scenarios.
        while (tries++ < MOST_TRIES && !(isWorthIt(scenario, rareOnes) && known.add("$scenario"))) {
            scenario = nextOf(threads)
        }
        val initial = scenario.initExecution.map { it.onBehalfOf(1 + choice.nextInt(threads)) }
        return scenario.with(initial)
    }

    private fun nextOf(threads: Int): ExecutionScenario {
        val whole = super.nextExecution()
        val actors = if (threads == MOST_THREADS) MOST_ACTORS - 1 else MOST_ACTORS
        return whole.with(parallel = whole.parallelExecution.take(threads).map { it.take(actors) })
    }

    private fun isWorthIt(scenario: ExecutionScenario, rareOnes: Int): Boolean {
        val actors = scenario.initExecution + scenario.parallelExecution.flatten()
        val mayWait = !canWait || actors.any { it.isSuspendable }
        return mayWait && actors.count { it.isRare } == rareOnes && actors.count { it.cancelOnSuspension } <= 1
    }

    private val Actor.isRare
        get() = method.isAnnotationPresent(Rare::class.java)

    private fun Actor.onBehalfOf(thread: Int): Actor {
        val position = method.parameters.indexOfFirst { it.getAnnotation(Param::class.java)?.name == "thread" }
        if (position < 0) return this
        return copy(arguments = arguments.mapIndexed { at, argument -> if (at == position) thread else argument })
    }

    companion object {
        /** So many scenarios, of which the last has [MOST_THREADS], come in turn. */
        const val ROUND = 3

        const val MOST_THREADS = 3
        const val MOST_ACTORS = 3
        private const val MOST_TRIES = 200
    }
}
