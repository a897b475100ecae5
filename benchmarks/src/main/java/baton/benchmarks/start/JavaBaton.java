package baton.benchmarks.start;

import baton.interop.AsyncSemaphore;

/** A future of a permit. */
final class JavaBaton {
    private JavaBaton() {}

    public static void main(String[] args) {
        AsyncSemaphore.create(1).acquire().join();
        System.out.write(1);
        System.out.flush();
    }
}
