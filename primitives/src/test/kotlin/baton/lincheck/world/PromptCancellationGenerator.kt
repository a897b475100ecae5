package baton.lincheck.world

import org.jetbrains.kotlinx.lincheck.Actor
import org.jetbrains.kotlinx.lincheck.CTestStructure
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario
import org.jetbrains.kotlinx.lincheck.execution.RandomExecutionGenerator
import org.jetbrains.lincheck.datastructures.CTestConfiguration
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.RandomProvider

/**
 * Generates the scenarios of Lincheck's own generator, but makes every cancellation prompt: it may meet a grant.
 *
 * Lincheck makes half of them prompt, even of an operation that is marked so. Of a cancellation that is not prompt, it
 * demands that the caller is withdrawn in one step. But a coroutine's job is cancelled first, and its waiter hears of
 * it afterwards: a grant in between is seen by others, and given back.
 *
 * So the model checks do not see a refusal in the time between a real release and the return of the cancelled call,
 * whatever its cause. They do see a lost permit, and a grant after that return.
 *
 * Only the parallel part is changed: Lincheck cancels nothing in the others.
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

    private fun Actor.cancelledPromptly(): Actor {
        if (!cancelOnSuspension) return this
        check(method.getAnnotation(Operation::class.java).promptCancellation) {
            "$this is not marked promptCancellation"
        }
        return copy(promptCancellation = true)
    }

    protected fun ExecutionScenario.with(
        initial: List<Actor> = initExecution,
        parallel: List<List<Actor>> = parallelExecution,
    ) = ExecutionScenario(initial, parallel, postExecution, validationFunction)
}
