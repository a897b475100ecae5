package baton.benchmarks.start;

/** No permit: what the JVM costs. */
final class JavaNothing {
    private JavaNothing() {}

    public static void main(String[] args) {
        System.out.write(1);
        System.out.flush();
    }
}
