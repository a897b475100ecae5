package baton.interop.parallel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Elements 0, 1, 2 and so on, whose stages the test completes by hand, in numbered steps. */
abstract class StagesByHand {
    final List<CompletableFuture<String>> stages = new ArrayList<>();
    int pulled;

    CompletableFuture<String> stage(int element) {
        assertEquals(stages.size(), element);
        CompletableFuture<String> stage = new CompletableFuture<>();
        stages.add(stage);
        return stage;
    }

    /** Completes the stages from one element to another, each with its number. */
    void complete(int from, int to) {
        for (int i = from; i <= to; i++) stages.get(i).complete("" + i);
    }

    Stream<Integer> elements(int count) {
        return IntStream.range(0, count).boxed().peek(element -> pulled++);
    }
}
