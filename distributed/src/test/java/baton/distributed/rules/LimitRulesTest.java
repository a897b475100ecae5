package baton.distributed.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.distributed.rules.LimitRules.Step;
import baton.distributed.rules.LimitRules.Wish;
import baton.distributed.rules.LimitState.Limit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every order of the commands of three members, against what the rules promise. */
class LimitRulesTest {
    private static final List<String> MEMBERS = List.of("a", "b", "c");
    private static final int DEPTH = 5;

    /** A token each three microseconds, so that a third of one is carried on. */
    private static Limit limit(int burst) {
        return new Limit(1, 3_000, burst);
    }

    private static LimitState full(int burst) {
        return LimitState.create(limit(burst), 0, 0, true);
    }

    /**
     * As a reader would note it: thirds of tokens, what each member may still use, and the queue.
     */
    private record Model(int burst, int thirds, List<Integer> lent, List<String> order, List<Integer> needs) {
        Model after(int time) {
            int room = burst - lent.stream().mapToInt(it -> it).sum();
            return new Model(burst, Math.min(thirds + time, room * 3), lent, order, needs);
        }

        Model with(int member, int used, int returned, int need) {
            List<Integer> newLent = new ArrayList<>(lent);
            newLent.set(member, lent.get(member) - used - returned);
            List<String> newOrder = new ArrayList<>(order);
            List<Integer> newNeeds = new ArrayList<>(needs);
            String name = MEMBERS.get(member);
            if (need == 0) newOrder.remove(name);
            else if (!newOrder.contains(name)) newOrder.add(name);
            newNeeds.set(member, need);
            return new Model(burst, thirds + returned * 3, newLent, newOrder, newNeeds).granted();
        }

        private Model granted() {
            List<Integer> newLent = new ArrayList<>(lent);
            List<String> newOrder = new ArrayList<>(order);
            List<Integer> newNeeds = new ArrayList<>(needs);
            int left = thirds;
            while (!newOrder.isEmpty()) {
                int head = MEMBERS.indexOf(newOrder.get(0));
                int need = newNeeds.get(head);
                if (need * 3 > left) break;
                left -= need * 3;
                newLent.set(head, newLent.get(head) + need);
                newNeeds.set(head, 0);
                newOrder.remove(0);
            }
            return new Model(burst, left, newLent, newOrder, newNeeds);
        }
    }

    /** At the time of the document. */
    private static Step apply(LimitState state, Wish wish) {
        return LimitRules.apply(state, state.time(), wish);
    }

    private record Node(LimitState state, Model model, int depth) {}

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void everyOrderOfCommands_grantsAsTheModel(int burst) {
        ArrayDeque<Node> open = new ArrayDeque<>();
        Set<Object> seen = new HashSet<>();
        Model start = new Model(burst, burst * 3, List.of(0, 0, 0), List.of(), List.of(0, 0, 0));
        open.add(new Node(full(burst), start, 0));
        int steps = 0;
        for (Node node = open.poll(); node != null; node = open.poll()) {
            if (node.depth == DEPTH || !seen.add(List.of(node.model, node.depth))) continue;
            for (int time : new int[] {1, 4}) {
                LimitState later = LimitRules.refill(node.state, node.state.time() + time);
                open.add(checked(new Step(later, Set.of()), node.model.after(time), node));
                steps++;
            }
            for (int i = 0; i < MEMBERS.size(); i++) {
                int lent = node.model.lent.get(i);
                for (int used = 0; used <= lent; used++) {
                    for (int returned = 0; used + returned <= lent; returned++) {
                        for (int need = 0; need <= burst; need++) {
                            Wish wish = new Wish(MEMBERS.get(i), 1, used, returned, 0, need, need);
                            Model model = node.model.with(i, used, returned, need);
                            open.add(checked(apply(node.state, wish), model, node));
                            steps++;
                        }
                    }
                }
                Step step = LimitRules.evict(node.state, Set.of(MEMBERS.get(i)));
                open.add(checked(step, node.model.with(i, lent, 0, 0), node));
            }
        }
        assertTrue(steps > 1_000, "steps = " + steps);
    }

    private static Node checked(Step step, Model model, Node before) {
        LimitState after = step.state();
        assertEquals(
                model.order,
                after.queue().stream().map(LimitState.Place::member).toList());
        assertEquals(model.thirds, after.tokens() * 3 + (int) (after.fraction() / 1_000), after.toText());
        int sum = after.tokens();
        for (int i = 0; i < MEMBERS.size(); i++) {
            assertEquals(model.lent.get(i), after.lent(MEMBERS.get(i)), MEMBERS.get(i));
            sum += after.lent(MEMBERS.get(i));
        }
        assertTrue(sum <= model.burst, "there are " + sum);
        assertEquals(after, LimitState.parse(after.toText()));
        return new Node(after, model, before.depth + 1);
    }

    @Test
    void grant_isTheShareOfWhatIsWanted_andTheRestWaitsBehindTheOthers() {
        LimitState one = apply(full(100), new Wish("a", 1, 0, 0, 0, 1, 80)).state();
        assertEquals(50, one.lent("a"));
        LimitState empty = apply(one, new Wish("b", 1, 0, 0, 0, 50, 50)).state();
        LimitState waiting = apply(empty, new Wish("a", 1, 50, 0, 0, 20, 90)).state();
        waiting = apply(waiting, new Wish("b", 1, 50, 0, 0, 20, 90)).state();
        Step step = apply(LimitRules.refill(waiting, 198), new Wish("c", 1, 0, 0, 0, 0, 0));
        assertEquals(33, step.state().lent("a"));
        assertEquals(33, step.state().lent("b"));
        assertEquals(
                List.of("a", "b"),
                step.state().queue().stream().map(LimitState.Place::member).toList());
        assertEquals(Set.of("a", "b"), step.rung());
    }

    @Test
    void placeThatNeedsWhatOthersHave_ringsThem() {
        LimitState lent = apply(full(10), new Wish("a", 1, 0, 0, 0, 6, 6)).state();
        Step step = apply(lent, new Wish("b", 1, 0, 0, 0, 10, 10));
        assertEquals(Set.of("a"), step.rung());
        Step given = apply(step.state(), new Wish("a", 1, 2, 4, 0, 0, 0));
        assertEquals(0, given.state().lent("b"));
        LimitState refilled = LimitRules.refill(given.state(), 6);
        assertEquals(
                10, apply(refilled, new Wish("a", 1, 0, 0, 0, 0, 0)).state().lent("b"));
    }

    @Test
    void tokensThatCameAfterTheLastUse_haveRoom() {
        LimitState lent = apply(full(2), new Wish("a", 1, 0, 0, 0, 2, 2)).state();
        LimitState later =
                LimitRules.apply(lent, 9, new Wish("a", 1, 2, 0, 3, 0, 0)).state();
        assertEquals(1, later.tokens());
        assertEquals(9, later.time());
    }

    @Test
    void clockThatGoesBack_bringsNothing_untilItIsTurnedBack() {
        LimitState used = apply(LimitRules.refill(full(2), 1_000), new Wish("a", 1, 0, 0, 0, 2, 2))
                .state();
        used = apply(used, new Wish("a", 1, 2, 0, 0, 0, 0)).state();
        assertEquals(used, LimitRules.refill(used, 500));
        LimitState back = LimitRules.turnBack(used, 500);
        assertEquals(0, back.tokens());
        assertEquals(1, LimitRules.refill(back, 503).tokens());
    }

    @Test
    void longTimes_overflowNothing() {
        LimitState used = apply(
                        LimitState.create(new Limit(Long.MAX_VALUE, 1, Integer.MAX_VALUE), 0, 0, true),
                        new Wish("a", 1, 0, 0, 0, Integer.MAX_VALUE, Integer.MAX_VALUE))
                .state();
        used = apply(used, new Wish("a", 1, Integer.MAX_VALUE, 0, 0, 0, 0)).state();
        assertEquals(Integer.MAX_VALUE, LimitRules.refill(used, Long.MAX_VALUE).tokens());
        LimitState slow = LimitState.create(new Limit(1, Long.MAX_VALUE, 5), 0, 0, false);
        assertEquals(Long.MAX_VALUE, slow.nanosUntil(2));
        assertEquals(0, LimitRules.refill(slow, 1_000).tokens());
    }

    @Test
    void change_belowAPlace_dropsThePlace_andTokensBeyondTheBurst() {
        LimitState waiting = apply(full(3), new Wish("a", 1, 0, 0, 0, 1, 1)).state();
        waiting = apply(waiting, new Wish("b", 1, 0, 0, 0, 3, 3)).state();
        Step step = LimitRules.change(waiting, limit(2));
        assertEquals(List.of(), step.state().queue());
        assertEquals(1, step.state().tokens());
        assertTrue(step.rung().contains("b"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{\"baton\":1,\"kind\":\"limit\",\"permits\":0,\"nanos\":1,\"burst\":1,\"born\":0,\"time\":0,\"tokens\":0,\"fraction\":0,\"lent\":[],\"queue\":[]}",
                "{\"baton\":1,\"kind\":\"limit\",\"permits\":1,\"nanos\":1,\"burst\":1,\"born\":0,\"time\":0,\"tokens\":2,\"fraction\":0,\"lent\":[],\"queue\":[]}",
                "{\"baton\":1,\"kind\":\"limit\",\"permits\":1,\"nanos\":1,\"burst\":1,\"born\":0,\"time\":0,\"tokens\":0,\"fraction\":1,\"lent\":[],\"queue\":[]}",
                "{\"baton\":1,\"kind\":\"limit\",\"permits\":1,\"nanos\":1,\"burst\":1,\"born\":0,\"time\":-1,\"tokens\":0,\"fraction\":0,\"lent\":[],\"queue\":[]}",
                "{\"baton\":1,\"kind\":\"limit\",\"permits\":1,\"nanos\":1,\"burst\":1,\"born\":0,\"time\":0,\"tokens\":0,\"fraction\":0,\"lent\":[{\"member\":\"a\",\"tokens\":0,\"lease\":1}],\"queue\":[]}",
                "{\"baton\":1,\"kind\":\"lock\",\"permits\":1,\"born\":0,\"fence\":0,\"held\":[],\"queue\":[]}"
            })
    void hostileText_isRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> LimitState.parse(text));
    }

    @Test
    void goldenDocument_isRead() {
        String text = "{\"baton\":1,\"kind\":\"limit\",\"permits\":100,\"nanos\":1000000000,\"burst\":20,\"born\":7,"
                + "\"time\":9,\"tokens\":1,\"fraction\":5,\"lent\":[{\"member\":\"a\",\"tokens\":2,\"lease\":10000}],"
                + "\"queue\":[{\"member\":\"b\",\"need\":3,\"want\":8,\"lease\":10000}]}";
        LimitState state = LimitState.parse(text);
        assertEquals(2, state.lent("a"));
        assertEquals(0, state.indexOf("b"));
        assertEquals(text, state.toText());
    }
}
