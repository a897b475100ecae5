package baton.distributed.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.distributed.rules.LockRules.Step;
import baton.distributed.rules.LockRules.Wish;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every order of the commands of three members, against what the rules promise. */
class LockRulesTest {
    private static final List<String> MEMBERS = List.of("a", "b", "c");
    private static final int DEPTH = 8;

    /** The permits and requests of the members, the requests in their order, as a reader would note them. */
    private record Model(int permits, List<Integer> held, List<String> order, List<Integer> wanted) {
        Model with(int member, int keep, int want) {
            List<Integer> newHeld = new ArrayList<>(held);
            newHeld.set(member, Math.min(held.get(member), keep));
            List<String> newOrder = new ArrayList<>(order);
            List<Integer> newWanted = new ArrayList<>(wanted);
            String name = MEMBERS.get(member);
            if (want == 0) newOrder.remove(name);
            else if (!newOrder.contains(name)) newOrder.add(name);
            newWanted.set(member, want);
            return new Model(permits, newHeld, newOrder, newWanted).granted();
        }

        Model without(int member) {
            return with(member, 0, 0);
        }

        private Model granted() {
            List<Integer> newHeld = new ArrayList<>(held);
            List<String> newOrder = new ArrayList<>(order);
            List<Integer> newWanted = new ArrayList<>(wanted);
            int free = permits - newHeld.stream().mapToInt(it -> it).sum();
            while (!newOrder.isEmpty()) {
                int head = MEMBERS.indexOf(newOrder.get(0));
                if (newWanted.get(head) > free) break;
                free -= newWanted.get(head);
                newHeld.set(head, newHeld.get(head) + newWanted.get(head));
                newWanted.set(head, 0);
                newOrder.remove(0);
            }
            return new Model(permits, newHeld, newOrder, newWanted);
        }
    }

    private record Node(LockState state, Model model, int depth) {}

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void everyOrderOfCommands_grantsAsTheModel(int permits) {
        ArrayDeque<Node> open = new ArrayDeque<>();
        Set<Object> seen = new HashSet<>();
        Model start = new Model(permits, List.of(0, 0, 0), List.of(), List.of(0, 0, 0));
        open.add(new Node(LockState.create(permits, 0), start, 0));
        int steps = 0;
        for (Node node = open.poll(); node != null; node = open.poll()) {
            if (node.depth == DEPTH || !seen.add(List.of(node.model, node.depth))) continue;
            for (int member = 0; member < MEMBERS.size(); member++) {
                for (int keep = 0; keep <= permits; keep++) {
                    for (int want = 0; want <= permits; want++) {
                        Wish wish = new Wish(MEMBERS.get(member), 1, keep, want, false);
                        Step step = LockRules.apply(node.state, wish);
                        Model model = node.model.with(member, keep, want);
                        check(node.state, step, model, MEMBERS.get(member));
                        open.add(new Node(step.state(), model, node.depth + 1));
                        steps++;
                    }
                }
                Step step = LockRules.evict(node.state, Set.of(MEMBERS.get(member)));
                Model model = node.model.without(member);
                check(node.state, step, model, "");
                open.add(new Node(step.state(), model, node.depth + 1));
            }
        }
        assertTrue(steps > 1_000, "steps = " + steps);
    }

    private static void check(LockState before, Step step, Model model, String by) {
        LockState after = step.state();
        List<String> queue = after.queue().stream().map(LockState.Place::member).toList();
        assertEquals(model.order, queue);
        int sum = 0;
        for (int i = 0; i < MEMBERS.size(); i++) {
            String member = MEMBERS.get(i);
            assertEquals(model.held.get(i), after.held(member), member);
            assertEquals(model.wanted.get(i), after.wanted(member), member);
            sum += after.held(member);
            boolean grew = after.held(member) > before.held(member);
            if (grew) assertTrue(after.firstToken(member) > before.fence(), "a new grant has newer tokens");
            if (grew && !member.equals(by)) assertTrue(step.rung().contains(member), "a grant rings");
        }
        assertTrue(sum <= after.permits(), "held = " + sum);
        assertEquals(after, LockState.parse(after.toText()));
        if (before.queue().isEmpty() && !after.queue().isEmpty()) {
            for (LockState.Share share : after.shares()) {
                assertTrue(share.member().equals(by) || step.rung().contains(share.member()), "a holder is rung");
            }
        }
    }

    @Test
    void wish_appliedTwice_changesNothingMore() {
        LockState state = LockRules.apply(LockState.create(2, 0), new Wish("a", 1, 0, 2, false))
                .state();
        LockState waiting =
                LockRules.apply(state, new Wish("b", 1, 0, 1, false)).state();
        Wish less = new Wish("a", 1, 1, 0, false);
        LockState once = LockRules.apply(waiting, less).state();
        assertEquals(once, LockRules.apply(once, less).state());
        assertEquals(1, once.held("b"));
    }

    @Test
    void resize_belowAPlace_dropsThePlace() {
        LockState state = LockRules.apply(LockState.create(3, 0), new Wish("a", 1, 0, 1, false))
                .state();
        LockState waiting =
                LockRules.apply(state, new Wish("b", 1, 0, 3, false)).state();
        Step step = LockRules.resize(waiting, 2);
        assertEquals(List.of(), step.state().queue());
        assertEquals(Set.of("b"), step.rung());
    }

    @Test
    void renewedTokens_areAboveAllOthers() {
        LockState state = LockRules.apply(LockState.create(2, 5), new Wish("a", 1, 0, 1, false))
                .state();
        LockState both = LockRules.apply(state, new Wish("b", 1, 0, 1, false)).state();
        LockState renewed = LockRules.apply(both, new Wish("a", 1, 1, 0, true)).state();
        assertTrue(renewed.firstToken("a") >= both.firstToken("b") + LockRules.TOKENS);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "7",
                "{}",
                "{\"baton\":2,\"kind\":\"lock\",\"permits\":1,\"born\":0,\"fence\":0,\"held\":[],\"queue\":[]}",
                "{\"baton\":1,\"kind\":\"member\",\"permits\":1,\"born\":0,\"fence\":0,\"held\":[],\"queue\":[]}",
                "{\"baton\":1,\"kind\":\"lock\",\"permits\":0,\"born\":0,\"fence\":0,\"held\":[],\"queue\":[]}",
                "{\"baton\":1,\"kind\":\"lock\",\"permits\":1,\"born\":0,\"fence\":-1,\"held\":[],\"queue\":[]}",
                "{\"baton\":1,\"kind\":\"lock\",\"permits\":1,\"born\":0,\"fence\":0,\"held\":[],\"queue\":[7]}",
                "{\"baton\":1,\"kind\":\"lock\",\"permits\":1,\"born\":0,\"fence\":0,\"held\":[]}",
                "{\"baton\":1,\"kind\":\"lock\",\"permits\":1,\"born\":0,\"fence\":0,\"held\":[],\"queue\":[]} x",
                "[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]",
                "{\"baton\":1,\"baton\":1}",
                "{\"baton\":99999999999999999999}",
                "\"\\u00"
            })
    void hostileText_isRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> LockState.parse(text));
    }

    @Test
    void textOfOtherPrograms_isKept() {
        EpochState epoch = new EpochState("i\"d\n\u00e9\ud83d\ude00", true, List.of(new EpochState.Gone("a\\b", "1")));
        assertEquals(epoch, EpochState.parse(epoch.toText()));
    }

    /** Members of two versions share a store during a deployment: what is written must stay readable. */
    @Test
    void goldenDocuments_areRead() {
        String lock = "{\"baton\":1,\"kind\":\"lock\",\"permits\":2,\"born\":0,\"fence\":20001,"
                + "\"held\":[{\"member\":\"a\",\"permits\":2,\"lease\":10000,\"token\":1}],"
                + "\"queue\":[{\"member\":\"b\",\"permits\":1,\"lease\":10000}]}";
        LockState state = LockState.parse(lock);
        assertEquals(2, state.held("a"));
        assertEquals(1, state.wanted("b"));
        assertEquals(lock, state.toText());
        String named = lock.replace("\"token\":1", "\"name\":\"shop-1\",\"token\":1,\"since\":1700000000000");
        assertEquals("shop-1", LockState.parse(named).shares().get(0).name());
        assertEquals(named, LockState.parse(named).toText());
        String epoch =
                "{\"baton\":1,\"kind\":\"epoch\",\"id\":\"x\",\"rested\":true,\"gone\":[{\"key\":\"k\",\"mark\":\"m\"}]}";
        assertEquals(epoch, EpochState.parse(epoch).toText());
        String names = "{\"baton\":1,\"kind\":\"names\",\"names\":[\"a\",\"b\"],\"fence\":7}";
        assertEquals(names, NamesState.parse(names).toText());
        String ended = "{\"baton\":1,\"kind\":\"ended\",\"fence\":20001}";
        assertEquals(ended, EndedState.parse(ended).toText());
        assertNull(EndedState.parse(lock));
        String member = "{\"baton\":1,\"kind\":\"member\",\"name\":\"n\",\"lease\":10000,\"beat\":1}";
        assertEquals(member, new MemberState("n", 10_000, 1).toText());
    }
}
