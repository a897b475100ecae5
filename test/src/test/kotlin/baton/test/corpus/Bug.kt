package baton.test.corpus

import baton.test.ExploreScope
import kotlinx.coroutines.yield

/**
 * A concurrency bug as it is written in applications, and the same program without it. A number in the comment on a bug
 * is that of an issue or a pull request from which it comes; the program is ours.
 */
internal class Bug(
    val name: String,
    /** A part of the message with which the program fails. */
    val failure: String,
    /** Whether the program is only wrong when one of its coroutines is cancelled. */
    val cancels: Boolean = false,
    private val program: suspend ExploreScope.(isRight: Boolean) -> Unit,
) {
    suspend fun wrong(scope: ExploreScope) = scope.program(false)

    suspend fun right(scope: ExploreScope) = scope.program(true)

    override fun toString() = name
}

internal val corpus: List<Bug> = sharedStateBugs + loadingBugs + wakeUpBugs + permitBugs + channelBugs + timeBugs

/** The [Bug.failure] of a program that stops. */
internal const val DEADLOCK = "nothing can go on"

/** Stands for a call of another service, which suspends and takes no time. */
internal suspend fun call(suspensions: Int = 1) = repeat(suspensions) { yield() }
