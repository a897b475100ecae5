package samples.support.uptime;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.logging.Formatter;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Keeps secrets out of the log of the JVM: drivers of databases write parts of the URL that they are given there. */
final class RedactedLog {
    private RedactedLog() {}

    @FunctionalInterface
    interface Work {
        int run() throws IOException;
    }

    /** Does {@code work}; meanwhile {@code redaction} is applied to all that the log's handlers write. */
    static int during(UnaryOperator<String> redaction, Work work) throws IOException {
        List<Runnable> undo = new ArrayList<>();
        for (Handler handler : Logger.getLogger("").getHandlers()) {
            Formatter plain = handler.getFormatter();
            if (plain == null) continue;
            undo.add(() -> handler.setFormatter(plain));
            handler.setFormatter(new Formatter() {
                @Override
                public String format(LogRecord entry) {
                    return redaction.apply(plain.format(entry));
                }
            });
        }
        try {
            return work.run();
        } finally {
            undo.forEach(Runnable::run);
        }
    }
}
