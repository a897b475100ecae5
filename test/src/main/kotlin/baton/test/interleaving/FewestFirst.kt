package baton.test.interleaving

import java.util.ArrayDeque
import kotlin.random.Random

/**
 * Each order once, those with the fewest unusual choices first. An order that differs from another by one choice more,
 * after its last unusual one, is a child of it; the orders so form a tree, whose root is the usual order.
 *
 * The number of unusual choices bounds preemptions (Musuvathi, Qadeer: "Iterative context bounding", PLDI 2007), and
 * delays of the usual order (Emmi, Qadeer, Rakamarić: "Delay-bounded scheduling", POPL 2011).
 */
internal class FewestFirst(private val random: Random) {
    /** The orders that have been run and whose children have not. */
    private val parents = ArrayDeque<Parent>()
    private var parent = ROOT
    private var children = IntArray(0)
    private var nextChild = 0

    private class Parent(val choices: StepChoices, val alternatives: Alternatives)

    /** False once a run was too long for all of its alternatives to be kept. */
    private var isComplete = true

    /** Whether each order there is has been run. */
    val hasTriedAll: Boolean
        get() = isComplete && nextChild == children.size && parents.isEmpty()

    /** The choices of the next order; null if there is none. */
    fun next(): StepChoices? {
        while (nextChild == children.size) {
            parent = parents.poll() ?: return null
            children = childrenOf(parent)
            nextChild = 0
        }
        val child = children[nextChild++]
        return parent.choices.plus(child shr CHOICE_BITS, child.toShort().toInt())
    }

    /** The order with these [choices] has been run, and had these [alternatives]. */
    fun hasRun(choices: StepChoices, alternatives: Alternatives) {
        if (alternatives.isCut) isComplete = false
        parents.add(Parent(choices, alternatives))
    }

    /** The last choice of each, with its step. In random order: of a long run, no end comes first. */
    private fun childrenOf(parent: Parent): IntArray {
        val children = ArrayList<Int>()
        val mayCancel = !parent.choices.hasCancel()
        for (step in parent.choices.size..<parent.alternatives.size) {
            fun add(choice: Int) {
                children += (step shl CHOICE_BITS) or (choice and CHOICE_MASK)
            }
            for (place in 1..<parent.alternatives.ready(step)) add(place)
            if (mayCancel) for (place in 0..<parent.alternatives.victims(step)) add(Order.cancel(place))
        }
        children.shuffle(random)
        return children.toIntArray()
    }

    private companion object {
        const val CHOICE_BITS = 16
        const val CHOICE_MASK = (1 shl CHOICE_BITS) - 1
        val ROOT = Parent(StepChoices.NONE, Alternatives())
    }
}
