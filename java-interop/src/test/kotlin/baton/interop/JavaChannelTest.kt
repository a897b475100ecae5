package baton.interop

import baton.channels.contract.ChannelContract
import baton.channels.contract.ChannelFactory

// Left out, as in the other contracts: timeouts in virtual time and the topic of dispatchers.

class JavaChannelTest : FutureChannelContract(::JavaChannelFace) {
    override val isPlain: Boolean
        get() = true
}

class JavaSelectChannelTest : ChannelContract(::JavaSelectChannelFace)

class MixedJavaKotlinChannelTest : FutureChannelContract(::JavaKotlinChannelFace)

/** An element handed to a future stays in it. It is not returned when the awaiting coroutine is cancelled. */
abstract class FutureChannelContract(factory: ChannelFactory) : ChannelContract(factory) {
    override val elementsReturn: Boolean
        get() = false
}
