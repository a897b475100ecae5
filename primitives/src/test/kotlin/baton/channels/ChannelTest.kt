package baton.channels

import baton.channels.contract.ChannelContract
import baton.channels.contract.ChannelHostility
import baton.channels.contract.ChannelRunTwice
import baton.channels.contract.KotlinChannelFace
import baton.channels.contract.MixedChannelFace
import baton.channels.contract.SelectChannelFace
import baton.channels.contract.ViewChannelFace

class KotlinChannelTest : ChannelContract(::KotlinChannelFace), ChannelRunTwice {
    override val isPlain: Boolean
        get() = true

    override val hasVirtualTime: Boolean
        get() = true
}

class SelectChannelTest : ChannelContract(::SelectChannelFace), ChannelHostility {
    override val meetInOneStep: Boolean
        get() = true

    override val hasVirtualTime: Boolean
        get() = true
}

class ViewChannelTest : ChannelContract(::ViewChannelFace), ChannelHostility {
    override val isPlain: Boolean
        get() = true

    override val hasVirtualTime: Boolean
        get() = true
}

class MixedChannelTest : ChannelContract(::MixedChannelFace), ChannelHostility {
    override val hasVirtualTime: Boolean
        get() = true
}
