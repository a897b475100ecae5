package baton.shared.region

import java.util.concurrent.ConcurrentHashMap

/**
 * The open primitives of one kind, one for each name. A call for a known name waits for nothing; the first use of a
 * name waits for the init lock, one at a time.
 */
internal class Members<T : RegionMember>(private val memory: SharedMemory) {
    private val byName = ConcurrentHashMap<String, Pair<NameRequest, T>>()

    /** @throws baton.shared.SharedRegionException as [SharedMemory.named]. */
    fun open(request: NameRequest, initialise: (SharedObject) -> Unit = {}, create: (SharedObject) -> T): T {
        memory.check()
        known(request)?.let {
            return it
        }
        memory.checkFile()
        synchronized(byName) {
            known(request)?.let {
                return it
            }
            val opened = memory.named(request, initialise, create)
            memory.register(opened)
            byName[request.name] = request to opened
            return opened
        }
    }

    private fun known(request: NameRequest): T? = byName[request.name]?.takeIf { it.first == request }?.second
}
