package baton.channels

import baton.channels.contract.ChannelContract
import baton.channels.contract.ChannelDispatch
import baton.channels.contract.ChannelHostility
import baton.channels.contract.ChannelRunTwice
import baton.channels.contract.ChannelTimeouts
import baton.channels.contract.KotlinChannelFace
import baton.channels.contract.MixedChannelFace
import baton.channels.contract.SelectChannelFace

class KotlinChannelTest :
    ChannelContract(::KotlinChannelFace),
    ChannelTimeouts,
    ChannelDispatch,
    ChannelRunTwice {
    override val isPlain: Boolean get() = true
}

class SelectChannelTest :
    ChannelContract(::SelectChannelFace),
    ChannelTimeouts,
    ChannelDispatch,
    ChannelHostility {
    override val meetInOneStep: Boolean get() = true
}

class MixedChannelTest :
    ChannelContract(::MixedChannelFace),
    ChannelTimeouts,
    ChannelDispatch,
    ChannelHostility
