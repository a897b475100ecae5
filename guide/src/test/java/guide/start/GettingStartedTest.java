package guide.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs the programs of docs/getting-started.md. */
class GettingStartedTest {
    private interface Program {
        void run() throws Exception;
    }

    private static List<String> output(Program program) throws Exception {
        PrintStream before = System.out;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(bytes, true));
        try {
            program.run();
        } finally {
            System.setOut(before);
        }
        return bytes.toString().lines().toList();
    }

    @Test
    void program_inKotlin_givesItsPermitsBack() throws Exception {
        List<String> expected = List.of(
                "request 0 begins",
                "request 1 begins",
                "request 2 begins",
                "Semaphore 'uplink' (permits = 2, available = 2, waiting = 0)");
        assertEquals(expected, output(FirstKt::main));
    }

    @Test
    void program_inJava_runsAll() throws Exception {
        List<String> lines = output(() -> FirstInJava.main(new String[0]));
        assertEquals(3, lines.size());
        assertTrue(
                lines.stream().allMatch(line -> line.contains("AsyncSemaphore 'uplink' (permits = 2, ")),
                lines::toString);
    }
}
