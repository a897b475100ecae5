package baton.test.history

import baton.distributed.CasAnswer
import baton.distributed.StoredDocument
import java.util.Optional

/** One document of a store; the state is empty while there is none. */
object DocumentModel : SequentialModel<Optional<StoredDocument>, DocumentModel.Input, Any> {
    sealed interface Input

    object Read : Input {
        override fun toString() = "read"
    }

    data class Write(val expected: Long, val next: StoredDocument) : Input

    data class Delete(val expected: Long) : Input

    override val initial: Optional<StoredDocument> = Optional.empty()

    private fun isExpected(state: Optional<StoredDocument>, version: Long) =
        state.map { it.version() }.orElse(0) == version

    override fun after(state: Optional<StoredDocument>, input: Input, output: Any): Optional<StoredDocument>? =
        when (input) {
            is Read -> state.takeIf { output == it }
            is Write -> {
                val answer = output as CasAnswer
                if (answer.isStored) Optional.of(input.next).takeIf { isExpected(state, input.expected) }
                else state.takeIf { !isExpected(it, input.expected) && answer.current == it }
            }
            is Delete ->
                if (output == true) Optional.empty<StoredDocument>().takeIf { isExpected(state, input.expected) }
                else state.takeIf { it.isEmpty || !isExpected(it, input.expected) }
        }

    override fun afterUnknown(state: Optional<StoredDocument>, input: Input): Optional<StoredDocument> =
        when {
            input is Write && isExpected(state, input.expected) -> Optional.of(input.next)
            input is Delete && state.isPresent && isExpected(state, input.expected) -> Optional.empty()
            else -> state
        }
}
