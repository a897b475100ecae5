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
    ChannelHostility

class MixedChannelTest :
    ChannelContract(::MixedChannelFace),
    ChannelTimeouts,
    ChannelDispatch,
    ChannelHostility
