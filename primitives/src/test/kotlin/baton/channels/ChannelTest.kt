package baton.channels

class KotlinChannelTest :
    ChannelContract(::KotlinChannelFace),
    ChannelMeetings,
    ChannelTimeouts,
    ChannelDispatch

class SelectChannelTest :
    ChannelContract(::SelectChannelFace),
    ChannelTimeouts,
    ChannelDispatch {
    override val meetInOneStep: Boolean get() = true
}

class MixedChannelTest :
    ChannelContract(::MixedChannelFace),
    ChannelTimeouts,
    ChannelDispatch
