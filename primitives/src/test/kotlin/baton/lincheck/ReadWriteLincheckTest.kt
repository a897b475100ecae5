package baton.lincheck

import baton.lincheck.world.LincheckCase
import baton.lincheck.world.ReadWriteMode.READ
import baton.lincheck.world.ReadWriteMode.WRITE
import baton.lincheck.world.ReadWriteSequential
import baton.lincheck.world.Scenario
import baton.lincheck.world.after
import baton.lincheck.world.cancelled
import baton.lincheck.world.threads
import baton.sync.ReadWritePolicy
import baton.sync.ReadWritePolicy.PHASE_FAIR
import baton.sync.ReadWritePolicy.READER_FIRST
import baton.sync.ReadWritePolicy.WRITER_FIRST
import baton.sync.readwrite.contract.Asker.NO_OWNER
import baton.sync.readwrite.contract.PlainReadWrite
import baton.sync.readwrite.contract.ReadWriteUnderLincheck
import baton.sync.readwrite.contract.UnownedReadWrite
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions
import org.jetbrains.lincheck.datastructures.forClasses

internal interface ReadWriteLincheck : LincheckCase {
    override val generated: Int
        get() = 14

    /** The map of owners is read under the lock, and in loops that Lincheck would take for waiting. */
    override fun configure(options: ModelCheckingOptions) {
        options.addGuarantee(forClasses { "IdentityHashMap" in it }.allMethods().ignore()).loopBound(200)
    }
}

internal class UnownedModel : UnownedReadWrite(ReadWriteSequential(PHASE_FAIR))

internal class ReadWriteLincheckTest : UnownedReadWrite(ReadWriteUnderLincheck(PHASE_FAIR)), ReadWriteLincheck {
    override val model
        get() = UnownedModel::class.java

    override val scenarios: List<Scenario>
        get() =
            listOf(
                    // One reader leaves, and another comes.
                    threads(
                        { actor(::unlock, READ, NO_OWNER) },
                        {
                            actor(::tryLock, READ, NO_OWNER)
                            actor(::tryLock, WRITE, NO_OWNER)
                        },
                    ),
                    // A reader comes in the moment in which the first waiter moves the word into the fields.
                    threads(
                        { actor(::lock, WRITE, NO_OWNER) },
                        {
                            actor(::tryLock, READ, NO_OWNER)
                            actor(::unlock, READ, NO_OWNER)
                            actor(::unlock, READ, NO_OWNER)
                        },
                    ),
                )
                .map { it.after { actor(::tryLock, READ, NO_OWNER) } }
}

internal abstract class ReadWriteCancelLincheckBase(policy: ReadWritePolicy, override val model: Class<*>) :
    PlainReadWrite(ReadWriteUnderLincheck(policy)), ReadWriteLincheck {
    override val scenarios: List<Scenario>
        get() =
            listOf(
                // A writer that gives up admits the readers it held back.
                threads(
                        { actor(::isWriteLocked) },
                        { cancelled(::lock, 2, WRITE) },
                        {
                            actor(::lock, 3, READ)
                            actor(::readers)
                        },
                    )
                    .after { actor(::tryLock, 1, READ) },
                // The same, by its timer.
                threads(
                        { actor(::timePasses, 2) },
                        { actor(::tryLockWriteTimed, 2) },
                        {
                            actor(::waiting)
                            actor(::lock, 3, READ)
                        },
                    )
                    .after { actor(::tryLock, 1, READ) },
                // Readers that are admitted together, and one of them is cancelled.
                threads(
                        {
                            actor(::unlock, 1)
                            actor(::tryLock, 1, WRITE)
                        },
                        {
                            cancelled(::lock, 2, READ)
                            actor(::tryLock, 2, WRITE)
                        },
                        {
                            actor(::lock, 3, READ)
                            actor(::unlock, 3)
                        },
                    )
                    .after { actor(::tryLock, 1, WRITE) },
                // The next request after a writer unlocks: a writer, which may be cancelled when it is admitted.
                threads(
                        {
                            actor(::waiting)
                            actor(::unlock, 1)
                        },
                        {
                            cancelled(::lock, 2, WRITE)
                            actor(::tryLock, 2, READ)
                        },
                        { actor(::lock, 3, READ) },
                    )
                    .after { actor(::tryLock, 1, WRITE) },
                // The same without cancellation.
                threads(
                        {
                            actor(::waiting)
                            actor(::unlock, 1)
                        },
                        { actor(::lock, 2, WRITE) },
                        { actor(::lock, 3, READ) },
                    )
                    .after { actor(::tryLock, 1, WRITE) },
            )
}

internal class PhaseFairModel : PlainReadWrite(ReadWriteSequential(PHASE_FAIR))

internal class PhaseFairLincheckTest : ReadWriteCancelLincheckBase(PHASE_FAIR, PhaseFairModel::class.java)

internal class WriterFirstModel : PlainReadWrite(ReadWriteSequential(WRITER_FIRST))

internal class WriterFirstLincheckTest : ReadWriteCancelLincheckBase(WRITER_FIRST, WriterFirstModel::class.java)

internal class ReaderFirstModel : PlainReadWrite(ReadWriteSequential(READER_FIRST))

internal class ReaderFirstLincheckTest : ReadWriteCancelLincheckBase(READER_FIRST, ReaderFirstModel::class.java)
