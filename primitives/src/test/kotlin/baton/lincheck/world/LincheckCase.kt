package baton.lincheck.world

import kotlin.reflect.KFunction
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder
import org.jetbrains.lincheck.datastructures.DSLThreadScenario
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/** A class of operations that is checked against the same operations of a model. */
interface LincheckCase {
    val model: Class<*>

    val effort: Effort
        get() = Effort.SHORT

    /** How many scenarios are generated at an [Effort.share] of 100; see [Effort.SHORT] for the ordinary run. */
    val generated: Int

    val spins: Int
        get() = Effort.SPINS

    /** Multiplies the interleavings of each scenario written by hand. */
    val factor: Int
        get() = 1

    /** Scenarios written by hand, because random generation may miss them. */
    val scenarios: List<Scenario>
        get() = emptyList()

    fun configure(options: ModelCheckingOptions) = Unit

    @Test
    fun chosenInterleavings_areLinearizable() =
        effort.checkInterleavings(javaClass, model, scenarios, generated, spins, factor) { configure(this) }

    /**
     * Chance must find what the chosen interleavings come to by themselves, so it takes the runs of `deep` to be of
     * use.
     */
    @Test @Tag("deep") fun threads_areLinearizable() = Effort.stress(model, scenarios).check(javaClass)
}

typealias Scenario = DSLScenarioBuilder.() -> Unit

/** A scenario of parallel threads, each with its operations. */
fun threads(vararg threads: DSLThreadScenario.() -> Unit): Scenario = {
    parallel { for (operations in threads) thread(operations) }
}

/** The same, after [initial] operations of no thread. */
fun Scenario.after(initial: DSLThreadScenario.() -> Unit): Scenario {
    val threads = this
    return {
        initial(initial)
        threads()
    }
}

/** The operation that is cancelled when it suspends, or has just been granted. */
internal fun DSLThreadScenario.cancelled(operation: KFunction<*>, vararg arguments: Any) {
    actor(operation, *arguments)
    this[lastIndex] = last().copy(cancelOnSuspension = true, promptCancellation = true)
}
