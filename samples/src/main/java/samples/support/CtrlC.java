package samples.support;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Lets a program end in order when the user presses Ctrl-C: until {@link #close} the JVM goes on. */
public final class CtrlC implements AutoCloseable {
    /** In seconds. A program that hangs must not keep the JVM alive. */
    private static final int PATIENCE = 20;

    private final CountDownLatch pressed = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread hook = new Thread(this::delayExit, "ctrl-c");

    public CtrlC() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void delayExit() {
        pressed.countDown();
        try {
            boolean isInOrder = closed.await(PATIENCE, TimeUnit.SECONDS);
            if (!isInOrder) System.err.println("gave up after " + PATIENCE + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for so long, or until Ctrl-C is pressed or the thread interrupted; returns whether either has happened. */
    public boolean await(Duration time) {
        try {
            return pressed.await(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    @Override
    public void close() {
        closed.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException exiting) {
            // It is running.
        }
    }
}
