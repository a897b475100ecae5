package baton.lincheck

import baton.lincheck.world.Effort
import baton.lincheck.world.ReadWriteMode.READ
import baton.lincheck.world.ReadWriteMode.WRITE
import baton.lincheck.world.ReadWriteSequential
import baton.lincheck.world.VARIANT
import baton.sync.ReadWritePolicy
import baton.sync.ReadWritePolicy.PHASE_FAIR
import baton.sync.ReadWritePolicy.READER_FIRST
import baton.sync.ReadWritePolicy.WRITER_FIRST
import baton.sync.readwrite.contract.AnybodysReadWrite
import baton.sync.readwrite.contract.PlainReadWrite
import baton.sync.readwrite.contract.ReadWriteUnderLincheck
import baton.sync.readwrite.contract.cancelled
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder
import org.jetbrains.lincheck.datastructures.forClasses
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/** How a class of operations is checked against the same operations of the model. */
internal interface ReadWriteLincheck {
    val model: Class<*>

    val effort: Effort get() = Effort.BRIEF

    /** How many scenarios the ordinary run generates. */
    val generated: Int get() = 14

    /** Scenarios written by hand, because random generation may miss them. */
    val scenarios: List<DSLScenarioBuilder.() -> Unit> get() = emptyList()

    /** The map of owners is read under the lock, and in loops that Lincheck would take for waiting. */
    @Test
    fun chosenInterleavings_areLinearizable() =
        effort.checkInterleavings(javaClass, model, scenarios, generated) {
            addGuarantee(forClasses { "IdentityHashMap" in it }.allMethods().ignore()).loopBound(200)
        }

    @Test
    fun threads_areLinearizable() = effort.stress(model, scenarios).check(javaClass)
}

internal class AnybodysModel : AnybodysReadWrite(ReadWriteSequential(PHASE_FAIR))

internal open class ReadWriteLincheckTest : AnybodysReadWrite(ReadWriteUnderLincheck(PHASE_FAIR)), ReadWriteLincheck {
    override val model get() = AnybodysModel::class.java
}

internal class ReadWriteLincheckDeepTest : ReadWriteLincheckTest() {
    override val effort get() = Effort.DEEP
}

internal abstract class ReadWriteCancelLincheckBase(policy: ReadWritePolicy, override val model: Class<*>) :
    PlainReadWrite(ReadWriteUnderLincheck(policy)),
    ReadWriteLincheck {
    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
            { // A writer that gives up admits the readers it held back.
                initial { actor(::tryLock, 1, READ) }
                parallel {
                    thread { actor(::isWriteLocked) }
                    thread { cancelled(::lock, 2, WRITE) }
                    thread {
                        actor(::lock, 3, READ)
                        actor(::readers)
                    }
                }
            },
            { // The same, by its timer.
                initial { actor(::tryLock, 1, READ) }
                parallel {
                    thread { actor(::timePasses, 2) }
                    thread { actor(::tryLockWriteTimed, 2) }
                    thread {
                        actor(::waiting)
                        actor(::lock, 3, READ)
                    }
                }
            },
            { // Readers that are admitted together, and one of them is cancelled.
                initial { actor(::tryLock, 1, WRITE) }
                parallel {
                    thread {
                        actor(::unlock, 1)
                        actor(::tryLock, 1, WRITE)
                    }
                    thread {
                        cancelled(::lock, 2, READ)
                        actor(::tryLock, 2, WRITE)
                    }
                    thread {
                        actor(::lock, 3, READ)
                        actor(::unlock, 3)
                    }
                }
            },
            { // The next request after a writer unlocks: a writer, which may be cancelled when it is admitted.
                initial { actor(::tryLock, 1, WRITE) }
                parallel {
                    thread {
                        actor(::waiting)
                        actor(::unlock, 1)
                    }
                    thread {
                        cancelled(::lock, 2, WRITE)
                        actor(::tryLock, 2, READ)
                    }
                    thread { actor(::lock, 3, READ) }
                }
            },
            { // The same without cancellation.
                initial { actor(::tryLock, 1, WRITE) }
                parallel {
                    thread {
                        actor(::waiting)
                        actor(::unlock, 1)
                    }
                    thread { actor(::lock, 2, WRITE) }
                    thread { actor(::lock, 3, READ) }
                }
            },
        )
}

internal class PhaseFairModel : PlainReadWrite(ReadWriteSequential(PHASE_FAIR))

internal open class PhaseFairLincheckTest : ReadWriteCancelLincheckBase(PHASE_FAIR, PhaseFairModel::class.java)

internal class PhaseFairLincheckDeepTest : PhaseFairLincheckTest() {
    override val effort get() = Effort.DEEP
}

internal class WriterFirstModel : PlainReadWrite(ReadWriteSequential(WRITER_FIRST))

@Tag(VARIANT)
internal open class WriterFirstLincheckTest : ReadWriteCancelLincheckBase(WRITER_FIRST, WriterFirstModel::class.java)

internal class WriterFirstLincheckDeepTest : WriterFirstLincheckTest() {
    override val effort get() = Effort.DEEP
}

internal class ReaderFirstModel : PlainReadWrite(ReadWriteSequential(READER_FIRST))

@Tag(VARIANT)
internal open class ReaderFirstLincheckTest : ReadWriteCancelLincheckBase(READER_FIRST, ReaderFirstModel::class.java)

internal class ReaderFirstLincheckDeepTest : ReaderFirstLincheckTest() {
    override val effort get() = Effort.DEEP
}
