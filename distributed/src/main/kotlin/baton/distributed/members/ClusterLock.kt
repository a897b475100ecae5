package baton.distributed.members

/** A lock, as its cluster knows it. */
internal interface ClusterLock {
    /** Of its document. */
    val key: String

    /** Another member has changed the document, or waits. */
    fun rung()

    /** Looks at the document if this member waits, or has something. Where no bell rings. */
    fun poll()

    /** After each heartbeat. */
    fun tick()

    /** All that [member] had is over. */
    fun lose(member: Member, why: String)

    /** Looks whether the document is there; what this member has of it is lost if not. Null without a look. */
    suspend fun verify(): Boolean?

    /** Refuses all callers, and gives back what they do not hold. */
    fun shutDown()

    /** Waits until nothing is held. */
    suspend fun awaitEnd()
}
