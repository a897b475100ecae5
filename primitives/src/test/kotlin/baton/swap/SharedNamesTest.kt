package baton.swap

import java.nio.file.Path
import kotlin.io.path.readText
import kotlin.io.path.writeText
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/**
 * Code that compiles after its imports of kotlinx were exchanged for ours does what it did. What differs on purpose is
 * listed here, and has its lines in docs/MIGRATING.md.
 */
@Tag("jdk")
class SharedNamesTest {
    /** The outcomes of [uses] with ours are those with theirs after these [replacements]. */
    private class Difference(val text: String, uses: String, vararg val replacements: Pair<String, String>) {
        val uses = Regex(uses)
        var occurs = false

        fun ours(theirs: String): String {
            val ours = replacements.fold(theirs) { outcome, (from, to) -> outcome.replace(from, to) }
            occurs = occurs || ours != theirs
            return ours
        }
    }

    private val differences =
        listOf(
            Difference(CAUSE, "($CALLS) .*Boom.*", "throws Boom" to "throws closed by Boom"),
            Difference(CAUSE, "($CALLS) .*Gone.*", "throws Gone" to "throws closed by Gone"),
            Difference(CAUSE, "getOrThrow .*close\\(\\)", "IllegalStateException" to "closed"),
            Difference(SENDERS, "$SENDS during close\\(\\)", "waits" to "throws closed"),
            Difference(SENDERS, "$SENDS during close\\(Boom.*", "waits" to "throws closed by Boom"),
            Difference(SENDERS, "$SENDS during close\\(Gone.*", "waits" to "throws closed by Gone"),
            Difference(CANCEL, "($CALLS|trySend) .*cancel\\(\\).*", "CancellationException" to "closed"),
            Difference(CANCEL, "$LOOPS .*cancel\\(\\).*", "throws CancellationException" to "[]"),
            Difference(CANCEL, "getOrElse .*cancel\\(\\).*", "1" to "0"),
            Difference(CANCEL, "$CAUSES .*cancel\\(\\).*", "CancellationException" to "null"),
            Difference(PRODUCER, "($LOOPS|a producer) .*Gone.*", "throws Gone" to "throws closed by Gone"),
            Difference(PRODUCER, "consumeAsFlow twice.*", "throws Can" to "throws closed by Can"),
            Difference(HANDLERS, "a second invokeOnClose", "throws IllegalStateException" to "[null]"),
            Difference(GATE, "Semaphore of no permits", "throws IllegalArgumentException" to "false"),
            Difference(OWNER, "unlock\\(null\\) of .* by (me|you)", "Unit" to "throws IllegalStateException"),
            Difference(OWNER, "unlock\\(null\\) of .* by me", "false, false" to "true, true"),
            Difference(OWNER, "unlock\\(null\\) of .* by you", "false, false" to "true, false"),
        )

    @Test
    fun code_whoseImportsAreExchanged_doesTheSame() {
        val theirs = theirNames.outcomes()
        val expected =
            theirs.mapValues { (use, outcome) ->
                differences.filter { it.uses.matches(use) }.fold(outcome) { ours, difference -> difference.ours(ours) }
            }
        assertEquals(lines(expected), lines(ourNames.outcomes()))
        assertEquals(listOf<String>(), differences.filterNot { it.occurs }.map { it.uses.pattern })
    }

    private fun lines(outcomes: Map<String, String>) = outcomes.entries.joinToString("\n") { "${it.key}: ${it.value}" }

    @Test
    fun differences_onPurpose_areInTheMigrationPage() {
        val page = Path.of("../docs/MIGRATING.md").readText()
        for (difference in differences) assertTrue(difference.text in page, difference.text)
    }

    @Test
    fun names_thatBothHave_areAllCompared() {
        val source = OURS.readText()
        val shared = namesOf(OUR_CLASSES).intersect(namesOf(THEIR_CLASSES)) - NOT_COMPARED
        assertTrue(shared.size > 30, "$shared")
        assertEquals(listOf<String>(), shared.filterNot { Regex("\\b$it\\b") in source })
    }

    /** Of the public methods, as Kotlin writes them. */
    private fun namesOf(classes: List<String>): Set<String> =
        classes
            .flatMap { Class.forName(it).methods.toList() }
            .map { it.name.substringBefore('-').substringBefore('$') }
            .mapTo(sortedSetOf()) { name ->
                GETTER.find(name)?.run { value.drop(3).replaceFirstChar(Char::lowercase) } ?: name
            }

    /** With `-Dapi.update=true` the file is written anew. */
    @Test
    fun theirNames_areOurNamesWithTheImportsOfKotlinx() {
        val exchanged = exchanged(OURS.readText().lines())
        if (System.getProperty("api.update") == "true") THEIRS.writeText(exchanged)
        assertEquals(exchanged, THEIRS.readText())
    }

    private fun exchanged(lines: List<String>): String {
        val imports = lines.filter { it.startsWith("import ") }.map { it.replace(OUR_IMPORT, ::theirImport) }.sorted()
        val head = lines.takeWhile { !it.startsWith("import ") }
        val body = lines.drop(head.size + imports.size).map { it.replace("val ourNames", "val theirNames") }
        return (head + imports + body).joinToString("\n")
    }

    private fun theirImport(ours: MatchResult): String {
        val (folder, name) = ours.destructured
        return "import kotlinx.coroutines.${if (name.endsWith("AsFlow")) "flow" else folder}.$name"
    }

    private companion object {
        const val SENDS = "(send|onSend)"
        const val CALLS = "getOrThrow|send|onSend|receive|onReceive"
        const val LOOPS = "(for|consumeEach|toList|receiveAsFlow|consumeAsFlow)"
        const val CAUSES = "(exceptionOrNull|onFailure|onClosed|invokeOnClose)"

        const val CAUSE =
            "**`receive` and `send` throw a `ChannelClosedException`, never the cause of the close itself.**"
        const val SENDERS = "**`close()` fails the senders that wait.**"
        const val CANCEL = "**`cancel()` of a channel cancels no coroutine.**"
        const val PRODUCER = "**A producer that was cancelled is not a producer that has finished.**"
        const val GATE = "`Semaphore(0)`, which kotlinx refuses"
        const val HANDLERS = "several handlers, each with a handle to drop it"
        const val OWNER = "**A mutex that was locked with an owner is unlocked with it.**"

        val OURS: Path = Path.of("src/test/kotlin/baton/swap/OurNames.kt")
        val THEIRS: Path = Path.of("src/test/kotlin/baton/swap/TheirNames.kt")
        val OUR_IMPORT = Regex("^import baton\\.(\\w+)\\.(\\w+)")
        val GETTER = Regex("^get[A-Z].*(?<!OrNull|OrThrow|OrElse)$")

        /** The use of theirs does not compile, theirs extends no channel, or it is the compiler's. */
        val NOT_COMPARED =
            setOf("receiveOrNull", "asFlow", "holder", "access", "box", "unbox") +
                Any::class.java.methods.map { it.name }

        val TYPES =
            listOf("Channel", "ChannelIterator", "ChannelResult", "ProducerScope", "ReceiveChannel", "SendChannel")
        val LOCKS = listOf("Mutex", "MutexKt", "Semaphore", "SemaphoreKt").map { "sync.$it" }
        val OUR_CLASSES =
            (TYPES + listOf("ChannelResultKt", "Channels", "Consumers", "Producers", "ReceiveChannelKt")).map {
                "baton.channels.$it"
            } + LOCKS.map { "baton.$it" }
        val THEIR_CLASSES =
            (TYPES + listOf("ChannelKt", "ChannelsKt", "ProduceKt")).map { "kotlinx.coroutines.channels.$it" } +
                (LOCKS + "flow.FlowKt").map { "kotlinx.coroutines.$it" }
    }
}
