package baton.lincheck

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
import baton.sync.readwrite.contract.ReadWriteUnderLincheck
import baton.sync.readwrite.contract.UpgradingReadWrite
import baton.sync.readwrite.contract.cancelled
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder
import org.junit.jupiter.api.Tag

internal abstract class UpgradeLincheckBase(policy: ReadWritePolicy, override val model: Class<*>) :
    UpgradingReadWrite(ReadWriteUnderLincheck(policy)),
    ReadWriteLincheck {
    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
            { // A caller that upgrades writes alone, and before all others.
                initial {
                    actor(::tryLock, 1, UPGRADABLE)
                    actor(::tryLock, 2, READ)
                }
                parallel {
                    thread {
                        actor(::lock, 1, UPGRADE)
                        actor(::readers)
                    }
                    thread {
                        actor(::unlock, 2)
                        actor(::lock, 2, WRITE)
                    }
                    thread {
                        actor(::waiting)
                        actor(::tryLock, 3, READ)
                    }
                }
            },
            { // A cancelled upgrade leaves its caller reading upgradably, and admits the readers it held back.
                initial {
                    actor(::tryLock, 1, UPGRADABLE)
                    actor(::tryLock, 2, READ)
                }
                parallel {
                    thread { cancelled(::lock, 1, UPGRADE) }
                    thread { actor(::isWriteLocked) }
                    thread { actor(::lock, 3, READ) }
                }
            },
            { // The same, and the upgrade may be granted before.
                initial {
                    actor(::tryLock, 1, UPGRADABLE)
                    actor(::tryLock, 2, READ)
                }
                parallel {
                    thread {
                        cancelled(::lock, 1, UPGRADE)
                        actor(::unlock, 1)
                    }
                    thread {
                        actor(::unlock, 2)
                        actor(::tryLock, 2, UPGRADABLE)
                    }
                    thread { actor(::lock, 3, READ) }
                }
            },
            { // The timer of an upgrade, and another caller that wants to be the next.
                initial {
                    actor(::tryLock, 1, UPGRADABLE)
                    actor(::tryLock, 2, READ)
                }
                parallel {
                    thread {
                        actor(::tryLockTimed, 1, UPGRADE)
                        actor(::unlock, 1)
                    }
                    thread {
                        actor(::timePasses, 1)
                        actor(::unlock, 2)
                    }
                    thread { cancelled(::lock, 3, UPGRADABLE) }
                }
            },
            { // No other caller writes in between.
                initial { actor(::tryLock, 1, WRITE) }
                parallel {
                    thread {
                        actor(::downgrade, 1)
                        actor(::readers)
                    }
                    thread { actor(::tryLock, 2, WRITE) }
                    thread {
                        actor(::lock, 3, WRITE)
                        actor(::unlock, 3)
                    }
                }
            },
        )
}

internal class PhaseFairUpgradeModel : UpgradingReadWrite(ReadWriteSequential(PHASE_FAIR))

@Tag(VARIANT)
internal open class UpgradeLincheckTest : UpgradeLincheckBase(PHASE_FAIR, PhaseFairUpgradeModel::class.java)

internal class UpgradeLincheckDeepTest : UpgradeLincheckTest() {
    override val effort get() = Effort.DEEP
}

internal class WriterFirstUpgradeModel : UpgradingReadWrite(ReadWriteSequential(WRITER_FIRST))

internal class WriterFirstUpgradeLincheckDeepTest :
    UpgradeLincheckBase(WRITER_FIRST, WriterFirstUpgradeModel::class.java) {
    override val effort get() = Effort.DEEP
}

internal class ReaderFirstUpgradeModel : UpgradingReadWrite(ReadWriteSequential(READER_FIRST))

internal class ReaderFirstUpgradeLincheckDeepTest :
    UpgradeLincheckBase(READER_FIRST, ReaderFirstUpgradeModel::class.java) {
    override val effort get() = Effort.DEEP
}
