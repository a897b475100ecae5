package baton.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.sync.BarrierCancellation;
import baton.sync.ReadWritePolicy;
import baton.sync.WaitOrder;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every method with a name parameter accepts null for no name. */
class NullNamesTest {
    static Stream<Arguments> nameless() {
        BarrierCancellation onCancel = BarrierCancellation.BREAK;
        return Stream.of(
                Arguments.of(AsyncMutex.create(), AsyncMutex.create(null)),
                Arguments.of(
                        AsyncMutex.create().newCondition(), AsyncMutex.create().newCondition(null)),
                Arguments.of(AsyncLatch.create(1), AsyncLatch.create(1, null)),
                Arguments.of(AsyncWaitGroup.create(), AsyncWaitGroup.create(null)),
                Arguments.of(AsyncSemaphore.create(1), AsyncSemaphore.create(1, WaitOrder.FIFO, null)),
                Arguments.of(AsyncReadWriteLock.create(), AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, null)),
                Arguments.of(AsyncBarrier.create(2), AsyncBarrier.create(2, onCancel, null)),
                Arguments.of(
                        AsyncBarrier.create(2),
                        AsyncBarrier.create(2, onCancel, null, () -> CompletableFuture.completedFuture(0))),
                Arguments.of(
                        AsyncChannel.<Integer>create(3),
                        AsyncChannel.<Integer>create(3, ChannelOrder.FIFO, OnFull.SUSPEND, null)),
                Arguments.of(
                        AsyncChannel.<Integer>create(3),
                        AsyncChannel.<Integer>create(3, ChannelOrder.FIFO, OnFull.SUSPEND, null, dropped -> {})));
    }

    @ParameterizedTest
    @MethodSource("nameless")
    void null_asAName_isNone(Object unnamed, Object withNull) {
        assertEquals(unnamed.toString(), withNull.toString());
    }
}
