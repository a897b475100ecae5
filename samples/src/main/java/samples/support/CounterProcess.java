package samples.support;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A worker process that counts. */
record CounterProcess(WorkerProcess worker) implements AutoCloseable {
    /** Starts a JVM that runs the sample {@code program}. */
    static CounterProcess start(Class<?> program, CounterJob job) throws IOException {
        return new CounterProcess(WorkerProcess.start(program, job.toArgs()));
    }

    String expect(String start) throws IOException {
        return worker.expect(start);
    }

    /** All processes are ready. */
    void begin() throws IOException {
        worker.tell("");
    }

    /** Kills the process, and waits for its end. Returns its number in the system. */
    long kill() throws InterruptedException {
        return worker.kill();
    }

    /** Waits for the end of the job. Returns what the process has said of its repairs. */
    List<String> repairs() throws IOException {
        List<String> repairs = new ArrayList<>();
        for (String line = expect(""); !line.equals(CounterJob.DONE); line = expect("")) {
            if (!line.startsWith(CounterJob.REPAIRED)) throw new IOException("a worker process says: " + line);
            repairs.add(line.substring(CounterJob.REPAIRED.length()));
        }
        return repairs;
    }

    @Override
    public void close() {
        worker.close();
    }
}
