package samples.support;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * The job of a worker process, which it gets as arguments. It tells its parent how far it is by lines on its output.
 *
 * @param file the region that all processes share.
 * @param counter the name of the counter, and of its lock.
 * @param processes the number of processes that count.
 * @param number the number of this one, from 0.
 * @param increments how many times this process adds 1.
 * @param isLocked whether it locks before it does.
 * @param killedAfter after so many increments, within the next one, the process is killed; -1 for never.
 */
public record CounterJob(
        Path file, String counter, int processes, int number, int increments, boolean isLocked, int killedAfter) {
    static final String READY = "ready ";
    static final String HOLDING = "holding";
    static final String REPAIRED = "repaired ";
    static final String DONE = "done";
    static final int NEVER = -1;

    private static final String FLAG = "--worker";

    /** The code that differs between the languages. */
    @FunctionalInterface
    public interface Worker {
        void run(CounterJob job) throws Exception;
    }

    /** Whether these are the arguments of a worker process. */
    public static boolean isIn(String[] args) {
        return args.length > 0 && args[0].equals(FLAG);
    }

    List<String> toArgs() {
        return List.of(
                FLAG,
                file.toString(),
                counter,
                "" + processes,
                "" + number,
                "" + increments,
                "" + isLocked,
                "" + killedAfter);
    }

    /** Runs the job in {@code args} in this process, which ends when its parent has. */
    public static void run(String[] args, Worker worker) {
        CounterJob job = new CounterJob(
                Path.of(args[1]),
                args[2],
                Integer.parseInt(args[3]),
                Integer.parseInt(args[4]),
                Integer.parseInt(args[5]),
                Boolean.parseBoolean(args[6]),
                Integer.parseInt(args[7]));
        try {
            worker.run(job);
            System.out.println(DONE);
        } catch (Exception failure) {
            System.out.println(failure);
        }
    }

    /** This process is ready to count, and waits until all others are. */
    public void awaitStart(Object waitMode) throws IOException {
        System.out.println(READY + waitMode);
        if (System.in.read() < 0) Runtime.getRuntime().halt(1);
        Thread watch = new Thread(CounterJob::haltWithParent, "parent-watch");
        watch.setDaemon(true);
        watch.start();
    }

    private static void haltWithParent() {
        try {
            System.in.readAllBytes(); // The parent writes nothing more.
        } catch (IOException noParent) {
            // Ended below.
        }
        Runtime.getRuntime().halt(1);
    }

    /** Called within each increment. Does not return in the one in which this process is to be killed. */
    public void mayBeKilled(int done) throws InterruptedException {
        if (done != killedAfter) return;
        System.out.println(HOLDING);
        new CountDownLatch(1).await();
    }

    /** This process was told of the death of a holder, and has repaired the counter. */
    public void repaired(long before, long after) {
        System.out.println(REPAIRED + before + " " + after);
    }
}
