package baton.interop.futures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.interop.AsyncBarrier;
import baton.interop.AsyncChannel;
import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncCondition;
import baton.interop.AsyncLatch;
import baton.interop.AsyncMutex;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncTaskScheduler;
import baton.interop.AsyncWaitGroup;
import baton.interop.Permit;
import baton.interop.UpgradablePermit;
import baton.resilience.BreakerState;
import baton.sync.BarrierCancellation;
import baton.sync.BarrierTimeoutException;
import baton.sync.ReadWritePolicy;
import baton.sync.WaitOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Every request of the Java API that waits in the queue of a primitive. */
public enum WaitKind {
    ACQUIRE(() -> {
        AsyncSemaphore s = AsyncSemaphore.create(3, WaitOrder.FIFO, "x");
        Permit held = s.acquire(2).join();
        return new Wait(s::waiting, held::close)
                .plain(() -> s.acquire(2))
                .timed(t -> s.acquire(2, t))
                .on(e -> s.acquire(2, e))
                .clause(select -> select.onAcquire(s, 2, Wait::won))
                .late("no 2 permits within %s from Semaphore 'x' (permits = 3, available = 1, waiting = 0)")
                .behind(s::acquire)
                .free(() -> assertEquals(3, s.availablePermits()));
    }),
    ACQUIRE_ONE(() -> {
        AsyncSemaphore s = AsyncSemaphore.create(1, WaitOrder.UNFAIR, "x");
        Permit held = s.acquire().join();
        return new Wait(s::waiting, held::close)
                .plain(s::acquire)
                .timed(s::acquire)
                .clause(select -> select.onAcquire(s, Wait::won))
                .late("no permit within %s from Semaphore 'x' (permits = 1, available = 0, waiting = 0)")
                .free(() -> assertEquals(1, s.availablePermits()));
    }),
    ACQUIRE_AT_A_LEVEL(() -> {
        AsyncSemaphore s = AsyncSemaphore.create(3, WaitOrder.PRIORITY, "x");
        Permit held = s.acquire(2).join();
        return new Wait(s::waiting, held::close)
                .plain(() -> s.acquire(2, Priority.HIGH))
                .timed(t -> s.acquire(2, Priority.HIGH, t))
                .clause(select -> select.onAcquire(s, 2, Priority.HIGH, Wait::won))
                .late("no 2 permits within %s from Semaphore 'x' (permits = 3, available = 1, waiting = 0)")
                .behind(() -> s.acquire(1, Priority.LOW))
                .free(() -> assertEquals(3, s.availablePermits()));
    }),
    AWAIT_IDLE(() -> {
        AsyncSemaphore s = AsyncSemaphore.create(3);
        Permit held = s.acquire(3).join();
        return new Wait(() -> 0, held::close).plain(s::awaitIdle);
    }),
    LOCK(() -> {
        AsyncMutex mutex = AsyncMutex.create("x");
        Permit held = mutex.lock().join();
        return new Wait(mutex::waiting, held::close)
                .plain(mutex::lock)
                .timed(mutex::lock)
                .on(e -> mutex.lock(e))
                .clause(select -> select.onLock(mutex, Wait::won))
                .late("not locked within %s: Mutex 'x' (locked, waiting = 0)")
                .got(permit -> assertEquals(Optional.empty(), mutex.holder()))
                .free(() -> assertFalse(mutex.isLocked()));
    }),
    LOCK_BY_AN_OWNER(() -> {
        AsyncMutex mutex = AsyncMutex.create("x");
        Permit held = mutex.ownedBy("you").lock().join();
        return new Wait(mutex::waiting, held::close)
                .plain(() -> mutex.ownedBy("me").lock())
                .timed(t -> mutex.ownedBy("me").lock(t))
                .on(e -> mutex.ownedBy("me").lock(e))
                .clause(select -> select.onLock(mutex.ownedBy("me"), permit -> {
                    assertEquals(Optional.of("me"), mutex.holder());
                    return Wait.won(permit);
                }))
                .late("not locked within %s: Mutex 'x' (locked by you, waiting = 0)")
                .got(permit ->
                        assertEquals(permit instanceof Permit, mutex.holder().isPresent()))
                .free(() -> assertFalse(mutex.isLocked()));
    }),
    READ(() -> {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, "x");
        Permit held = rw.lockWrite().join();
        return free(rw, new Wait(rw::waiting, held::close))
                .plain(rw::lockRead)
                .timed(rw::lockRead)
                .on(e -> rw.lockRead(e))
                .clause(select -> select.onRead(rw, Wait::won))
                .late("not locked to read within %s: ReadWriteLock 'x' (written, waiting = 0)");
    }),
    READ_BY_AN_OWNER(() -> {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, "x");
        Permit held = rw.ownedBy("you").lockWrite().join();
        return free(rw, new Wait(rw::waiting, held::close))
                .plain(() -> rw.ownedBy("me").lockRead())
                .timed(t -> rw.ownedBy("me").lockRead(t))
                .on(e -> rw.ownedBy("me").lockRead(e))
                .late("not locked to read within %s: ReadWriteLock 'x' (written by you, waiting = 0)")
                .got(permit -> assertEquals(List.of("me"), rw.readHolders()));
    }),
    WRITE(() -> {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, "x");
        Permit held = rw.lockRead().join();
        return free(rw, new Wait(rw::waiting, held::close))
                .plain(rw::lockWrite)
                .timed(rw::lockWrite)
                .on(e -> rw.lockWrite(e))
                .clause(select -> select.onWrite(rw, permit -> {
                    permit.downgrade();
                    assertEquals(1, rw.readers());
                    return Wait.won(permit);
                }))
                .late("not locked to write within %s: ReadWriteLock 'x' (readers = 1, waiting = 0)")
                .behind(rw::lockRead);
    }),
    WRITE_BY_AN_OWNER(() -> {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, "x");
        Permit held = rw.ownedBy("you").lockRead().join();
        return free(rw, new Wait(rw::waiting, held::close))
                .plain(() -> rw.ownedBy("me").lockWrite())
                .timed(t -> rw.ownedBy("me").lockWrite(t))
                .on(e -> rw.ownedBy("me").lockWrite(e))
                .late("not locked to write within %s: ReadWriteLock 'x' (readers = 1 (you), waiting = 0)")
                .behind(rw::lockRead)
                .got(permit -> assertEquals(Optional.of("me"), rw.writeHolder()));
    }),
    UPGRADABLE(() -> {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, "x");
        Permit held = rw.lockUpgradable().join();
        return free(rw, new Wait(rw::waiting, held::close))
                .plain(rw::lockUpgradable)
                .timed(rw::lockUpgradable)
                .on(e -> rw.lockUpgradable(e))
                .late("not locked to read upgradably within %s: ReadWriteLock 'x' (readers = 1, waiting = 0)");
    }),
    UPGRADABLE_BY_AN_OWNER(() -> {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, "x");
        Permit held = rw.ownedBy("you").lockWrite().join();
        return free(rw, new Wait(rw::waiting, held::close))
                .plain(() -> rw.ownedBy("me").lockUpgradable())
                .timed(t -> rw.ownedBy("me").lockUpgradable(t))
                .on(e -> rw.ownedBy("me").lockUpgradable(e))
                .late("not locked to read upgradably within %s: ReadWriteLock 'x' (written by you, waiting = 0)")
                .got(permit -> assertEquals(List.of("me"), rw.readHolders()));
    }),
    UPGRADE(() -> {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, "x");
        Permit held = rw.lockRead().join();
        UpgradablePermit mine = rw.lockUpgradable().join();
        return new Wait(rw::waiting, held::close)
                .plain(mine::upgrade)
                .timed(mine::upgrade)
                .on(mine::upgrade)
                .late("not upgraded within %s: ReadWriteLock 'x' (readers = 2, waiting = 0)")
                .behind(rw::lockRead)
                .got(permit -> assertTrue(permit == mine && rw.isWriteLocked()))
                .free(() -> {
                    if (mine.isHeld()) assertTrue(mine.tryUpgrade().isPresent());
                    mine.close();
                    assertTrue(rw.tryLockWrite().isPresent());
                });
    }),
    AWAIT_CONDITION(() -> {
        AsyncMutex mutex = AsyncMutex.create("x");
        AsyncCondition condition = mutex.newCondition("x");
        Runnable signal = () -> {
            try (Permit held = mutex.ownedBy("you").lock().join()) {
                assertTrue(held.isHeld());
                condition.signal();
            }
        };
        return new Wait(() -> condition.waiting() + mutex.waiting(), signal)
                .plain(() -> condition.await(mutex.ownedBy("me").lock().join()))
                .timed(t -> condition.await(mutex.ownedBy("me").lock().join(), t))
                .on(e -> condition.await(mutex.ownedBy("me").lock().join(), e))
                .late(
                        TimeoutException.class,
                        "not signalled within %s: Condition 'x' (waiting = 0) of Mutex 'x' (free)")
                .got(permit -> assertEquals(Optional.of("me"), mutex.holder()))
                .free(() -> assertFalse(mutex.isLocked()))
                .grantIsForWaitersOnly();
    }),
    AWAIT_LATCH(() -> {
        AsyncLatch latch = AsyncLatch.create(1, "x");
        return new Wait(latch::waiting, latch::countDown)
                .plain(latch::await)
                .timed(latch::await)
                .on(latch::await)
                .clause(select -> select.onAwait(latch, () -> "won"))
                .late(TimeoutException.class, "not open within %s: Latch 'x' (count = 1, waiting = 0)")
                .free(() -> assertEquals(0, latch.count()));
    }),
    AWAIT_CLOSED(() -> {
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("x");
        breaker.trip();
        return new Wait(breaker::waiting, breaker::reset)
                .plain(breaker::awaitClosed)
                .timed(breaker::awaitClosed)
                .on(breaker::awaitClosed)
                .late(
                        TimeoutException.class,
                        "not closed within %s: CircuitBreaker 'x' "
                                + "(FORCED_OPEN, calls = 0, failureRate = 0.0, slowRate = 0.0, rejected = 0)")
                .free(() -> assertEquals(BreakerState.CLOSED, breaker.state()));
    }),
    AWAIT_GROUP(() -> {
        AsyncWaitGroup group = AsyncWaitGroup.create("x");
        group.add();
        return new Wait(group::waiting, group::done)
                .plain(group::await)
                .timed(group::await)
                .on(group::await)
                .clause(select -> select.onAwait(group, () -> "won"))
                .late(TimeoutException.class, "not at zero within %s: WaitGroup 'x' (count = 1, waiting = 0)")
                .free(() -> assertEquals(0, group.count()));
    }),
    ARRIVE(() -> {
        AsyncBarrier barrier = AsyncBarrier.create(2, BarrierCancellation.RETRACT, "x");
        List<CompletableFuture<Integer>> party = new ArrayList<>();
        return new Wait(barrier::waiting, () -> party.add(barrier.arrive()))
                .plain(barrier::arrive)
                .timed(barrier::arrive)
                .on(barrier::arrive)
                .clause(select -> select.onArrive(barrier, index -> "won"))
                .late(
                        BarrierTimeoutException.class,
                        "not all arrived within %s: Barrier 'x' (parties = 2, waiting = 0)")
                .got(value -> assertTrue(party.get(0).isDone() && barrier.waiting() == 0))
                .free(() -> {
                    assertFalse(party.get(0).isDone(), "the arrival was withdrawn");
                    assertEquals(0, barrier.arrive().join());
                    assertEquals(1, party.get(0).join());
                });
    }),
    ACQUIRE_AT_A_RATE(() -> {
        AsyncRateLimiter limiter = AsyncRateLimiter.builder(1, Duration.ofDays(100))
                .burst(3)
                .name("x")
                .build();
        assertTrue(limiter.tryAcquire(1));
        CompletableFuture<Void> head = limiter.acquire(3);
        return new Wait(() -> limiter.waiting() - (head.isDone() ? 0 : 1), () -> head.cancel(false))
                .plain(() -> limiter.acquire(2))
                .on(e -> limiter.acquire(2, e))
                .got(value -> assertEquals(0, limiter.availablePermits()))
                .free(() -> assertEquals(2, limiter.availablePermits()));
    }),
    SEND(() -> {
        AsyncChannel<String> channel = AsyncChannel.create(0, ChannelOrder.FIFO, OnFull.SUSPEND, "x");
        return sends(channel)
                .plain(() -> channel.send("won"))
                .timed(t -> channel.send("won", t))
                .on(e -> channel.send("won", e))
                .clause(select -> select.onSend(channel, "won", () -> "won"));
    }),
    SEND_AT_A_LEVEL(() -> {
        AsyncChannel<String> channel = AsyncChannel.create(0, ChannelOrder.PRIORITY, OnFull.SUSPEND, "x");
        return sends(channel)
                .plain(() -> channel.send("won", Priority.HIGH))
                .timed(t -> channel.send("won", Priority.HIGH, t))
                .clause(select -> select.onSend(channel, "won", Priority.HIGH, () -> "won"));
    }),
    RECEIVE(() -> {
        AsyncChannel<String> channel = AsyncChannel.create(1, ChannelOrder.FIFO, OnFull.SUSPEND, "x");
        return new Wait(channel::waiting, () -> assertTrue(channel.trySend("won")))
                .plain(channel::receive)
                .timed(channel::receive)
                .on(channel::receive)
                .clause(select -> select.onReceive(channel, x -> x))
                .late(
                        TimeoutException.class,
                        "nothing received within %s: Channel 'x' (size = 0, capacity = 1, waiting = 0)")
                .got(value -> assertEquals("won", value))
                .free(() -> assertEquals(Optional.of("won"), channel.tryReceive()));
    }),
    RECEIVE_UP_TO(() -> {
        AsyncChannel<String> channel = AsyncChannel.create(1);
        return new Wait(channel::waiting, () -> assertTrue(channel.trySend("won")))
                .plain(() -> channel.receiveUpTo(2))
                .got(list -> assertEquals(List.of("won"), list))
                .free(() -> assertEquals(Optional.of("won"), channel.tryReceive()));
    }),
    RESERVE(() -> {
        AsyncChannel<String> channel = AsyncChannel.create(1, ChannelOrder.FIFO, OnFull.SUSPEND, "x");
        assertTrue(channel.trySend("first"));
        return new Wait(channel::waiting, () -> assertTrue(channel.tryReceive().isPresent()))
                .plain(channel::reserve)
                .timed(channel::reserve)
                .late("no place within %s: Channel 'x' (size = 1, capacity = 1, waiting = 0)")
                .free(() -> assertTrue(channel.trySend("next")));
    }),
    SCHEDULE(() -> {
        AsyncTaskScheduler scheduler =
                AsyncTaskScheduler.builder(1).executor(Runnable::run).build();
        List<String> ran = new ArrayList<>();
        scheduler.pause();
        return new Wait(() -> scheduler.metrics().getQueued(), scheduler::resume)
                .plain(() -> scheduler.schedule(Priority.LOW, () -> {
                    ran.add("won");
                    return CompletableFuture.completedFuture("won");
                }))
                .got(value -> assertEquals(List.of(value), ran))
                .free(() -> assertEquals(List.of(), ran));
    }),
    FUTURE(() -> {
        CompletableFuture<String> future = new CompletableFuture<>();
        return new Wait(future::getNumberOfDependents, () -> assertTrue(future.complete("won")))
                .clause(select -> select.onFuture(future, x -> x))
                .free(() -> assertEquals("won", future.join()));
    });

    private final Supplier<Wait> make;

    WaitKind(Supplier<Wait> make) {
        this.make = make;
    }

    /** Those with a future of their own. */
    static Stream<WaitKind> requests() {
        return Arrays.stream(values()).filter(kind -> kind.create().plain != null);
    }

    public Wait create() {
        return make.get();
    }

    private static Wait free(AsyncReadWriteLock rw, Wait wait) {
        return wait.free(() -> {
            assertEquals("AsyncReadWriteLock 'x' (free, waiting = 0)", rw.toString());
            assertTrue(rw.tryLockWrite().isPresent());
        });
    }

    private static Wait sends(AsyncChannel<String> channel) {
        List<CompletableFuture<String>> received = new ArrayList<>();
        return new Wait(channel::waiting, () -> received.add(channel.receive()))
                .late("not sent within %s: Channel 'x' (size = 0, capacity = 0, waiting = 0)")
                .got(value -> assertEquals("won", received.get(0).join()))
                .free(() -> {
                    assertFalse(received.get(0).isDone());
                    assertTrue(channel.trySend("next"));
                    assertEquals("next", received.get(0).join());
                });
    }
}
