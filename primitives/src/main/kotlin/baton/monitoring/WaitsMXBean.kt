package baton.monitoring

/** [Waits] and [Deadlocks] over JMX, say in JConsole or by `jcmd`'s clients. See [Waits.register]. */
public interface WaitsMXBean {
    /** [Deadlocks.isEnabled]. */
    public fun isDeadlocksEnabled(): Boolean

    /** [Waits.dump]. */
    public fun dump(): String

    /** [Waits.dumpJson]. */
    public fun dumpJson(): String

    /** [Deadlocks.enable]. */
    public fun enableDeadlocks()
}
