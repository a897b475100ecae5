package baton.lincheck.world

import org.jetbrains.kotlinx.lincheck.Actor
import org.jetbrains.kotlinx.lincheck.CTestStructure
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario
import org.jetbrains.kotlinx.lincheck.execution.RandomExecutionGenerator
import org.jetbrains.lincheck.datastructures.CTestConfiguration
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.RandomProvider

/** An operation that most scenarios do without: it changes nothing, or it leaves little that can happen afterwards. */
@Target(AnnotationTarget.FUNCTION) annotation class Rare

/**
 * Generates scenarios as Lincheck's own generator does, from the same fixed seed, and keeps the ones that are worth
 * their time:
 * - no scenario twice;
 * - one [Rare] operation in every second scenario, and none in the others: the results of the other operations show as
 *   much as an observation does;
 * - an operation that may wait, if the test has one;
 * - at most one cancelled operation: cancelling takes ten times as long as any other operation;
 * - a grant of the initial part belongs to one of the parallel threads, which can release it. For Lincheck, the initial
 *   part is a thread of its own.
 */
internal class ScenarioGenerator(
    private val configuration: CTestConfiguration,
    structure: CTestStructure,
    random: RandomProvider,
) : RandomExecutionGenerator(configuration, structure, random) {
    private val choice = random.createRandom()
    private val known = HashSet<String>()
    private val canWait = structure.actorGenerators.any { it.isSuspendable }

    override fun nextExecution(): ExecutionScenario {
        val rareOnes = choice.nextInt(2)
        var scenario = super.nextExecution()
        var tries = 0
        // A test with few operations runs out of new scenarios.
        while (tries++ < MOST_TRIES && !(isWorthIt(scenario, rareOnes) && known.add("$scenario"))) {
            scenario = super.nextExecution()
        }
        val initial = scenario.initExecution.map { it.onBehalfOf(1 + choice.nextInt(configuration.threads)) }
        return ExecutionScenario(
            initial,
            scenario.parallelExecution,
            scenario.postExecution,
            scenario.validationFunction,
        )
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

    private companion object {
        const val MOST_TRIES = 200
    }
}
