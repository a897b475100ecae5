package baton.channels

class KotlinChannelTest :
    ChannelContract(::KotlinChannelFace),
    ChannelMeetings,
    ChannelTimeouts,
    ChannelDispatch,
    ChannelRunTwice

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
