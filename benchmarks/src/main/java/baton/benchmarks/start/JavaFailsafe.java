package baton.benchmarks.start;

import dev.failsafe.Bulkhead;

/** A call that would block. */
final class JavaFailsafe {
    private JavaFailsafe() {}

    public static void main(String[] args) throws InterruptedException {
        Bulkhead.of(1).acquirePermit();
        System.out.write(1);
        System.out.flush();
    }
}
