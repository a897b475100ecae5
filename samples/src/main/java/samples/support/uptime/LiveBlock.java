package samples.support.uptime;

import java.io.PrintStream;
import java.util.List;

/** Some lines that are overwritten in place. For terminals alone. */
final class LiveBlock {
    private static final int WIDTH = 79;
    private static final String TO_START = "\033[%dA\r";
    private static final String ERASE_BELOW = "\033[J";

    private final PrintStream out;
    private int height;

    LiveBlock(PrintStream out) {
        this.out = out;
    }

    /** Shows {@code lines} in place of those shown before. */
    void show(List<String> lines) {
        StringBuilder text = erasure();
        for (String line : lines) {
            // A line that the terminal wraps would count as two.
            text.append(line, 0, Math.min(WIDTH, line.length())).append('\n');
        }
        height = lines.size();
        out.print(text);
        out.flush();
    }

    /** Erases what is shown. */
    void clear() {
        out.print(erasure());
        out.flush();
        height = 0;
    }

    private StringBuilder erasure() {
        StringBuilder text = new StringBuilder();
        if (height > 0) text.append(String.format(TO_START, height)).append(ERASE_BELOW);
        return text;
    }
}
