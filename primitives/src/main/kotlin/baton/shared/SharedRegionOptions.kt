package baton.shared

/**
 * Options of [SharedRegion.open].
 *
 * @property preferred how to wait, if the JVM can; [WaitMode.POLLING] forbids the futex. [SharedRegion.waiting] says
 *   which it became.
 */
public class SharedRegionOptions(public val preferred: WaitMode = WaitMode.FUTEX) {
    override fun toString(): String = "SharedRegionOptions(preferred = $preferred)"
}
