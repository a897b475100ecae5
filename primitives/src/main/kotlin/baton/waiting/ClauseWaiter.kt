package baton.waiting

/** A clause of a select of the Java face; [party] is that select. */
@InternalBatonApi
public abstract class ClauseWaiter(core: WaitCore, weight: Int, tag: Any?, override val party: Any) :
    Waiter(core, weight, tag)
