package baton.interop

import baton.channels.contract.ChannelContract
import baton.channels.contract.ChannelFactory
import baton.channels.contract.ChannelMeetings

// Left out, as in the other contracts: timeouts in virtual time and the topic of dispatchers.

class JavaChannelTest :
    FutureChannelContract(::JavaChannelFace),
    ChannelMeetings

class JavaSelectChannelTest : ChannelContract(::JavaSelectChannelFace)

class MixedJavaKotlinChannelTest : FutureChannelContract(::JavaKotlinChannelFace)

/** An element handed to a future stays in it. It is not returned when the awaiting coroutine is cancelled. */
abstract class FutureChannelContract(factory: ChannelFactory) : ChannelContract(factory) {
    override fun receivers_allCancelledBeforeTheyRun_elementsAreBackInTheirOrder() = Unit

    override fun receiver_gotItsElementAndIsCancelledBeforeItRuns_elementGoesToTheNext() = Unit

    override fun receiver_gotItsElementAndIsCancelledBeforeItRuns_elementGoesBackToTheHead() = Unit

    override fun rendezvous_receiverIsCancelledBeforeItRuns_elementStaysInside() = Unit

    override fun elementGivenBack_channelIsFull_noSenderComesInBeforeItIsReceived() = Unit

    override fun priority_elementGivenBack_comesFirstWhateverItsLevel() = Unit

    override fun dropOldest_elementIsGivenBackToAFullChannel_oldestIsDropped() = Unit

    override fun dropLatest_elementIsGivenBackToAFullChannel_isKept() = Unit

    override fun close_receiverHasItsElementAndIsCancelled_elementCanBeReceived() = Unit

    override fun cancel_receiverHasItsElementAndIsCancelled_elementIsDropped() = Unit

    override fun cancel_elementsThatWereGivenBack_areDroppedFirst() = Unit
}
