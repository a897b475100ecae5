package baton.scheduler.lincheck

import baton.lincheck.world.Effort
import baton.lincheck.world.LincheckCase

/** Operations that return no value: the state at the end of every interleaving is what is checked. */
interface SchedulerLincheckCase : LincheckCase {
    override val spins
        get() = Effort.SPINS_OVER_LEVELS
}
