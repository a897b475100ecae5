package baton.shared.region

/** A primitive that is open in this process, for the end of its region. */
internal interface RegionMember {
    /**
     * The region of this process is closed, or its file is lost. From now on [SharedMemory.check] throws. Called once,
     * without a lock of the region.
     *
     * Gives up what this process holds, so that local waiters run into [SharedMemory.check].
     *
     * @param isUsable whether the words may be touched: true for a close, and then all that is held becomes abandoned
     *   in them; false when the file is lost.
     */
    fun regionEnded(isUsable: Boolean)
}
