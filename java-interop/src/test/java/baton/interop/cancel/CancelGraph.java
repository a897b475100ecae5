package baton.interop.cancel;

import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.CancellableFuture;
import baton.interop.internal.cancel.Works;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Stages that are derived from one source and from each other at random. Once all stages without dependents, the leaves,
 * are ended from outside, by any threads in any order, each leaf has the outcome that was set, and all else has ended.
 */
public final class CancelGraph {
    /** A stage with the stages derived from it; one that never asks for it does not count. */
    private record Node(CancellableFuture<Integer> stage, List<Dependent> dependents) {
        Node(CancellableFuture<Integer> stage) {
            this(stage, new ArrayList<>());
        }

        /** Whether the end of all leaves ends this. */
        boolean ends() {
            if (dependents.isEmpty()) return true;
            List<Dependent> those = dependents.stream()
                    .filter(dependent -> dependent.asks.getAsBoolean())
                    .toList();
            return !those.isEmpty() && those.stream().allMatch(dependent -> dependent.node.ends());
        }
    }

    private record Dependent(Node node, BooleanSupplier asks) {}

    private static final int MOST_STAGES = 16;

    private final Random random;
    private final List<Node> nodes = new ArrayList<>();
    private final List<Node> inners = new ArrayList<>();
    private final List<AtomicInteger> teardowns = new ArrayList<>();
    private final List<CompletableFuture<Integer>> starts = new ArrayList<>();

    /** The action runs while a thread that ends a leaf cancels the work behind it: at a random place on its way upstream. */
    public CancelGraph(long seed, Runnable meanwhile) {
        random = new Random(seed);
        nodes.add(new Node(work(new CompletableFuture<>())));
        int stages = 2 + random.nextInt(MOST_STAGES - 1);
        while (nodes.size() < stages) nodes.add(newNode(meanwhile));
    }

    private Node newNode(Runnable meanwhile) {
        Node one = oldNode();
        int way = random.nextInt(5);
        if (way == 0) return derived(one.stage.thenApply(x -> x), one);
        if (way == 1) return composed(one);
        Node other = random.nextInt(3) == 0 ? newWork(meanwhile) : oldNode();
        return switch (way) {
            case 2 -> derived(one.stage.thenCombine(other.stage, Integer::sum), one, other);
            case 3 -> derived(other.stage.thenCombine(one.stage, Integer::sum), one, other);
            default -> derived(other.stage.applyToEither(one.stage, Function.identity()), one, other);
        };
    }

    private Node oldNode() {
        return nodes.get(random.nextInt(nodes.size()));
    }

    private Node newWork(Runnable whenCancelled) {
        Node node = new Node(work(acting(whenCancelled)));
        nodes.add(node);
        return node;
    }

    /** A stage whose cancel runs the action first. */
    static CompletableFuture<Integer> acting(Runnable whenCancelled) {
        return new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                whenCancelled.run();
                return super.cancel(mayInterruptIfRunning);
            }
        };
    }

    private CancellableFuture<Integer> work(CompletableFuture<Integer> stage) {
        CancellableFuture<Integer> future = CancellableFuture.of(stage);
        AtomicInteger teardown = new AtomicInteger();
        Works.workOf(future).addTeardown(teardown::incrementAndGet);
        teardowns.add(teardown);
        return future;
    }

    private static Node derived(CancellableFuture<Integer> stage, Node... sources) {
        Node node = new Node(stage);
        for (Node source : sources) source.dependents.add(new Dependent(node, () -> true));
        return node;
    }

    /** The stage that the function returns has no other dependent: else it might end before the function asks for it. */
    private Node composed(Node source) {
        Node inner = derived(source.stage.thenApply(x -> x), source);
        inners.add(inner);
        CompletableFuture<Integer> start = new CompletableFuture<>();
        starts.add(start);
        AtomicBoolean asked = new AtomicBoolean();
        Node node = new Node(CancellableFuture.of(start).thenCompose(x -> {
            asked.set(true);
            return inner.stage;
        }));
        inner.dependents.add(new Dependent(node, asked::get));
        return node;
    }

    /** Calls that end the leaves, which throw if a leaf has not the outcome of its call; and that start the functions. */
    public List<Runnable> calls() {
        List<Runnable> calls = new ArrayList<>();
        for (Node node : nodes) {
            if (node.dependents.isEmpty()) calls.add(end(node.stage, random.nextInt(3)));
        }
        for (CompletableFuture<Integer> start : starts) calls.add(() -> start.complete(0));
        Collections.shuffle(calls, random);
        return calls;
    }

    private static Runnable end(CancellableFuture<Integer> stage, int way) {
        return () -> end(stage, way, new RuntimeException("mine"));
    }

    private static void end(CancellableFuture<Integer> stage, int way, RuntimeException mine) {
        switch (way) {
            case 0 -> {
                assertTrue(stage.complete(7));
                assertEquals(7, stage.join());
            }
            case 1 -> {
                assertTrue(stage.completeExceptionally(mine));
                assertSame(mine, awaitFailure(stage));
            }
            default -> {
                assertTrue(stage.cancel(mine));
                assertTrue(stage.isCancelled());
                assertSame(mine, awaitFailure(stage).getCause());
            }
        }
    }

    /** To be called when all leaves are ended. */
    public void assertEnded() {
        List<Node> all = new ArrayList<>(nodes);
        all.addAll(inners);
        for (Node node : all) assertEquals(node.ends(), node.stage.isDone());
        if (!all.stream().allMatch(Node::ends)) return;
        for (AtomicInteger teardown : teardowns) assertEquals(1, teardown.get());
        for (Node node : all) assertTrue(node.stage.terminated().isDone());
    }
}
