package baton.lincheck

import baton.lincheck.LockOwner.ANN
import baton.lincheck.LockOwner.BEN
import baton.lincheck.world.Effort
import baton.lincheck.world.ReadWriteMode.READ
import baton.lincheck.world.ReadWriteMode.UPGRADABLE
import baton.lincheck.world.ReadWriteMode.UPGRADE
import baton.lincheck.world.ReadWriteMode.WRITE
import baton.lincheck.world.ReadWriteSequential
import baton.lincheck.world.VARIANT
import baton.sync.ReadWritePolicy
import baton.sync.ReadWritePolicy.PHASE_FAIR
import baton.sync.ReadWritePolicy.READER_FIRST
import baton.sync.ReadWritePolicy.WRITER_FIRST
import baton.sync.readwrite.contract.Asker
import baton.sync.readwrite.contract.OwnedReadWrite
import baton.sync.readwrite.contract.ReadWriteUnderLincheck
import baton.sync.readwrite.contract.cancelled
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder
import org.junit.jupiter.api.Tag

internal abstract class ReadOwnersLincheckBase(policy: ReadWritePolicy, override val model: Class<*>) :
    OwnedReadWrite(ReadWriteUnderLincheck(policy)),
    ReadWriteLincheck {
    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
            { // Two readers of one owner are admitted together, and one of them is cancelled.
                initial { actor(::tryLock, 1, WRITE, Asker.ANN) }
                parallel {
                    thread {
                        actor(::unlock, 1)
                        actor(::readHolders)
                    }
                    thread {
                        cancelled(::lock, 2, READ, BEN)
                        actor(::tryLock, 2, WRITE, Asker.ANYBODY)
                    }
                    thread {
                        actor(::lock, 3, READ, BEN)
                        actor(::unlock, 3)
                    }
                }
            },
            { // A reader that is admitted and cancelled before it runs has been visible as a holder.
                initial { actor(::tryLock, 1, WRITE, Asker.ANN) }
                parallel {
                    thread {
                        actor(::unlock, 1)
                        actor(::readHolders)
                    }
                    thread { cancelled(::lock, 2, READ, BEN) }
                }
            },
            { // To read again behind a writer that gives up.
                initial { actor(::tryLock, 1, READ, Asker.ANN) }
                parallel {
                    thread {
                        actor(::lock, 1, READ, ANN)
                        actor(::unlock, 1)
                    }
                    thread { cancelled(::lock, 2, WRITE, BEN) }
                    thread { actor(::lock, 3, READ, BEN) }
                }
            },
            { // To read, and to read upgradably as well, while a writer waits.
                initial { actor(::tryLock, 1, READ, Asker.ANN) }
                parallel {
                    thread {
                        actor(::lock, 1, UPGRADABLE, ANN)
                        actor(::readHolders)
                    }
                    thread { actor(::lock, 2, WRITE, BEN) }
                    thread { actor(::tryLock, 3, UPGRADE, Asker.ANN) }
                }
            },
        )
}

internal class PhaseFairOwnersModel : OwnedReadWrite(ReadWriteSequential(PHASE_FAIR))

@Tag(VARIANT)
internal open class ReadOwnersLincheckTest : ReadOwnersLincheckBase(PHASE_FAIR, PhaseFairOwnersModel::class.java)

internal class ReadOwnersLincheckDeepTest : ReadOwnersLincheckTest() {
    override val effort get() = Effort.DEEP
}

internal class WriterFirstOwnersModel : OwnedReadWrite(ReadWriteSequential(WRITER_FIRST))

internal class WriterFirstOwnersLincheckDeepTest :
    ReadOwnersLincheckBase(WRITER_FIRST, WriterFirstOwnersModel::class.java) {
    override val effort get() = Effort.DEEP
}

internal class ReaderFirstOwnersModel : OwnedReadWrite(ReadWriteSequential(READER_FIRST))

internal class ReaderFirstOwnersLincheckDeepTest :
    ReadOwnersLincheckBase(READER_FIRST, ReaderFirstOwnersModel::class.java) {
    override val effort get() = Effort.DEEP
}
