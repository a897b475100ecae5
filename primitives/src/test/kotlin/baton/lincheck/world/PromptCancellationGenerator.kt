package baton.lincheck.world

import org.jetbrains.kotlinx.lincheck.Actor
import org.jetbrains.kotlinx.lincheck.CTestStructure
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario
import org.jetbrains.kotlinx.lincheck.execution.RandomExecutionGenerator
import org.jetbrains.lincheck.datastructures.CTestConfiguration
import org.jetbrains.lincheck.datastructures.RandomProvider

/**
 * Generates scenarios as Lincheck's own generator does, in which every cancellation is prompt: it may meet a grant.
 *
 * Of a cancellation that is not, Lincheck demands that it withdraws the caller in one step. But a coroutine's job is
 * cancelled first, and its waiter hears of it afterwards. A grant in between is seen by others, and given back.
 */
internal open class PromptCancellationGenerator(
    configuration: CTestConfiguration,
    structure: CTestStructure,
    random: RandomProvider,
) : RandomExecutionGenerator(configuration, structure, random) {
    override fun nextExecution(): ExecutionScenario {
        val scenario = super.nextExecution()
        return scenario.with(
            parallel = scenario.parallelExecution.map { actors -> actors.map { it.cancelledPromptly() } }
        )
    }

    private fun Actor.cancelledPromptly() = if (cancelOnSuspension) copy(promptCancellation = true) else this

    protected fun ExecutionScenario.with(
        initial: List<Actor> = initExecution,
        parallel: List<List<Actor>> = parallelExecution,
    ) = ExecutionScenario(initial, parallel, postExecution, validationFunction)
}
