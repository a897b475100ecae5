package baton.lincheck

import baton.lincheck.LockOwner.ANN
import baton.lincheck.LockOwner.BEN
import baton.lincheck.world.ReadWriteMode.READ
import baton.lincheck.world.ReadWriteMode.UPGRADABLE
import baton.lincheck.world.ReadWriteMode.UPGRADE
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
import baton.sync.readwrite.contract.Asker
import baton.sync.readwrite.contract.OwnedReadWrite
import baton.sync.readwrite.contract.ReadWriteUnderLincheck
import baton.sync.readwrite.contract.UpgradingReadWrite

internal abstract class ReadOwnersLincheckBase(policy: ReadWritePolicy, override val model: Class<*>) :
    OwnedReadWrite(ReadWriteUnderLincheck(policy)), ReadWriteLincheck {
    override val scenarios: List<Scenario>
        get() =
            listOf(
                // Two readers of one owner are admitted together, and one of them is cancelled.
                threads(
                        {
                            actor(::unlock, 1)
                            actor(::readHolders)
                        },
                        {
                            cancelled(::lock, 2, READ, BEN)
                            actor(::tryLock, 2, WRITE, Asker.NO_OWNER)
                        },
                        {
                            actor(::lock, 3, READ, BEN)
                            actor(::unlock, 3)
                        },
                    )
                    .after { actor(::tryLock, 1, WRITE, Asker.ANN) },
                // A reader that is admitted and cancelled before it runs has been visible as a holder.
                threads(
                        {
                            actor(::unlock, 1)
                            actor(::readHolders)
                        },
                        { cancelled(::lock, 2, READ, BEN) },
                    )
                    .after { actor(::tryLock, 1, WRITE, Asker.ANN) },
                // To read again behind a writer that gives up.
                threads(
                        {
                            actor(::lock, 1, READ, ANN)
                            actor(::unlock, 1)
                        },
                        { cancelled(::lock, 2, WRITE, BEN) },
                        { actor(::lock, 3, READ, BEN) },
                    )
                    .after { actor(::tryLock, 1, READ, Asker.ANN) },
                // To read, and to read upgradably as well, while a writer waits.
                threads(
                        {
                            actor(::lock, 1, UPGRADABLE, ANN)
                            actor(::readHolders)
                        },
                        { actor(::lock, 2, WRITE, BEN) },
                        { actor(::tryLock, 3, UPGRADE, Asker.ANN) },
                    )
                    .after { actor(::tryLock, 1, READ, Asker.ANN) },
            )
}

internal class PhaseFairOwnersModel : OwnedReadWrite(ReadWriteSequential(PHASE_FAIR))

internal class ReadOwnersLincheckTest : ReadOwnersLincheckBase(PHASE_FAIR, PhaseFairOwnersModel::class.java)

internal class WriterFirstOwnersModel : OwnedReadWrite(ReadWriteSequential(WRITER_FIRST))

internal class WriterFirstOwnersLincheckDeepTest :
    ReadOwnersLincheckBase(WRITER_FIRST, WriterFirstOwnersModel::class.java)

internal class ReaderFirstOwnersModel : OwnedReadWrite(ReadWriteSequential(READER_FIRST))

internal class ReaderFirstOwnersLincheckDeepTest :
    ReadOwnersLincheckBase(READER_FIRST, ReaderFirstOwnersModel::class.java)

internal abstract class UpgradeLincheckBase(policy: ReadWritePolicy, override val model: Class<*>) :
    UpgradingReadWrite(ReadWriteUnderLincheck(policy)), ReadWriteLincheck {
    /** The first thread reads upgradably, the second plainly. */
    private fun Scenario.afterTwoRead() = after {
        actor(::tryLock, 1, UPGRADABLE)
        actor(::tryLock, 2, READ)
    }

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // A caller that upgrades writes alone, and before all others.
                threads(
                        {
                            actor(::lock, 1, UPGRADE)
                            actor(::readers)
                        },
                        {
                            actor(::unlock, 2)
                            actor(::lock, 2, WRITE)
                        },
                        {
                            actor(::waiting)
                            actor(::tryLock, 3, READ)
                        },
                    )
                    .afterTwoRead(),
                // A cancelled upgrade leaves its caller reading upgradably, and admits the readers it held back.
                threads({ cancelled(::lock, 1, UPGRADE) }, { actor(::isWriteLocked) }, { actor(::lock, 3, READ) })
                    .afterTwoRead(),
                // The same, and the upgrade may be granted before.
                threads(
                        {
                            cancelled(::lock, 1, UPGRADE)
                            actor(::unlock, 1)
                        },
                        {
                            actor(::unlock, 2)
                            actor(::tryLock, 2, UPGRADABLE)
                        },
                        { actor(::lock, 3, READ) },
                    )
                    .afterTwoRead(),
                // The timer of an upgrade, and another caller that wants to be the next.
                threads(
                        {
                            actor(::tryLockTimed, 1, UPGRADE)
                            actor(::unlock, 1)
                        },
                        {
                            actor(::timePasses, 1)
                            actor(::unlock, 2)
                        },
                        { cancelled(::lock, 3, UPGRADABLE) },
                    )
                    .afterTwoRead(),
                // No other caller writes in between.
                threads(
                        {
                            actor(::downgrade, 1)
                            actor(::readers)
                        },
                        { actor(::tryLock, 2, WRITE) },
                        {
                            actor(::lock, 3, WRITE)
                            actor(::unlock, 3)
                        },
                    )
                    .after { actor(::tryLock, 1, WRITE) },
            )
}

internal class PhaseFairUpgradeModel : UpgradingReadWrite(ReadWriteSequential(PHASE_FAIR))

internal class UpgradeLincheckTest : UpgradeLincheckBase(PHASE_FAIR, PhaseFairUpgradeModel::class.java)

internal class WriterFirstUpgradeModel : UpgradingReadWrite(ReadWriteSequential(WRITER_FIRST))

internal class WriterFirstUpgradeLincheckDeepTest :
    UpgradeLincheckBase(WRITER_FIRST, WriterFirstUpgradeModel::class.java)

internal class ReaderFirstUpgradeModel : UpgradingReadWrite(ReadWriteSequential(READER_FIRST))

internal class ReaderFirstUpgradeLincheckDeepTest :
    UpgradeLincheckBase(READER_FIRST, ReaderFirstUpgradeModel::class.java)
