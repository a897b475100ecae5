package baton.shared.region

/** The open primitives of one kind, one for each name. */
internal class Members<T : RegionMember>(private val memory: SharedMemory) {
    private val byName = HashMap<String, Pair<NameRequest, T>>()

    /** @throws baton.shared.SharedRegionException as [SharedMemory.named]. */
    fun open(request: NameRequest, initialise: (SharedObject) -> Unit = {}, create: (SharedObject) -> T): T {
        memory.check()
        synchronized(byName) { known(request) }
            ?.let {
                return it
            }
        memory.checkFile()
        synchronized(byName) {
            known(request)?.let {
                return it
            }
            val opened = create(memory.named(request, initialise))
            memory.register(opened)
            byName[request.name] = request to opened
            return opened
        }
    }

    private fun known(request: NameRequest): T? = byName[request.name]?.takeIf { it.first == request }?.second
}
