package baton.channels

class KotlinChannelTest :
    ChannelContract(::KotlinChannelFace),
    ChannelMeetings,
    ChannelTimeouts,
    ChannelDispatch,
    ChannelHostility

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
