package baton.benchmarks.start;

import baton.interop.AsyncSemaphore;

/** A call that would block. */
final class JavaBatonBlocking {
    private JavaBatonBlocking() {}

    public static void main(String[] args) throws InterruptedException {
        AsyncSemaphore.create(1).blocking().acquire();
        System.out.write(1);
        System.out.flush();
    }
}
