package samples.support;

import java.io.Console;
import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A line that changes in place on a terminal, and is not there in a log. */
final class Progress {
    private static final long INTERVAL = TimeUnit.MILLISECONDS.toNanos(50);

    private final PrintStream out;
    private final boolean live;
    private long last = System.nanoTime() - INTERVAL;
    private int width;

    Progress(PrintStream out, boolean live) {
        this.out = out;
        this.live = live;
    }

    static Progress on(PrintStream out) {
        return new Progress(out, out == System.out && System.getenv("CI") == null && isTerminal(System.console()));
    }

    private static boolean isTerminal(Console console) {
        if (console == null) return false;
        try {
            // Since JDK 22 there may be a console where there is no terminal, and this method to tell.
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (ReflectiveOperationException before22) {
            return true;
        }
    }

    /** Shows {@code line}, unless the one before is too young; {@code force} shows it anyway. */
    void show(boolean force, Supplier<String> line) {
        long now = System.nanoTime();
        if (!live || !force && now - last < INTERVAL) return;
        last = now;
        String text = line.get();
        out.print("\r" + text + " ".repeat(Math.max(0, width - text.length())));
        out.flush();
        width = text.length();
    }

    /** Takes the line away. */
    void clear() {
        if (width > 0) out.print("\r" + " ".repeat(width) + "\r");
        width = 0;
    }
}
