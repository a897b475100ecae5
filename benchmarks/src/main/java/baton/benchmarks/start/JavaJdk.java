package baton.benchmarks.start;

import java.util.concurrent.Semaphore;

/** A call that would block. */
final class JavaJdk {
    private JavaJdk() {}

    public static void main(String[] args) throws InterruptedException {
        new Semaphore(1).acquire();
        System.out.write(1);
        System.out.flush();
    }
}
