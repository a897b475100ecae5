package baton.interop.futures;

import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.PermitTimeoutException;
import baton.interop.Permit;
import baton.interop.Select;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A primitive at which a request waits: the forms of the request, the call that grants it, and the checks at the end. */
public final class Wait {
    private final IntSupplier waiting;
    private final Runnable grant;

    @Nullable
    Supplier<CompletableFuture<?>> plain;

    @Nullable
    Function<Duration, CompletableFuture<?>> timed;

    @Nullable
    Function<Executor, CompletableFuture<?>> on;

    @Nullable
    Consumer<Select<String>> clause;

    /** The message of a request that may not wait, with {@code %s} for the timeout. */
    String late = "";

    @Nullable
    Class<? extends Exception> lateType;

    private @Nullable Supplier<CompletableFuture<Permit>> behind;
    private Runnable lost = () -> {};
    private Consumer<Object> got = value -> {};
    /** Whether the request, made after the grant, is done at once. */
    boolean isGrantKept = true;

    Wait(IntSupplier waiting, Runnable grant) {
        this.waiting = waiting;
        this.grant = grant;
    }

    Wait plain(Supplier<CompletableFuture<?>> form) {
        plain = form;
        return this;
    }

    Wait timed(Function<Duration, CompletableFuture<?>> form) {
        timed = form;
        return this;
    }

    Wait on(Function<Executor, CompletableFuture<?>> form) {
        on = form;
        return this;
    }

    public Wait clause(Consumer<Select<String>> form) {
        clause = form;
        return this;
    }

    /** The request is for a permit. */
    Wait late(String message) {
        return late(PermitTimeoutException.class, message);
    }

    Wait late(Class<? extends Exception> type, String message) {
        lateType = type;
        late = message;
        return this;
    }

    /** A request behind that is granted as soon as the first one is withdrawn. */
    Wait behind(Supplier<CompletableFuture<Permit>> request) {
        behind = request;
        return this;
    }

    /** Asserts that all was given back, whether the request was granted or withdrawn. */
    Wait free(Runnable check) {
        lost = check;
        return this;
    }

    Wait got(Consumer<Object> check) {
        got = check;
        return this;
    }

    Wait grantIsForWaitersOnly() {
        isGrantKept = false;
        return this;
    }

    public int waiting() {
        return waiting.getAsInt();
    }

    public void grant() {
        grant.run();
    }

    public boolean isClause() {
        return clause != null;
    }

    public void addTo(Select<String> select) {
        clause.accept(select);
    }

    @Nullable
    CompletableFuture<Permit> follow() {
        return behind == null ? null : behind.get();
    }

    /** After the request was withdrawn and then granted too late: the next request gets what it would have got. */
    public void checkNothingLost() {
        lost.run();
    }

    /** After the request was granted. */
    public void checkGranted(@Nullable Object value) {
        got.accept(value);
        if (value instanceof Permit permit) {
            assertTrue(permit.isHeld());
            permit.close();
            lost.run();
        }
    }

    /** The function of a clause. */
    static String won(Permit permit) {
        try (permit) {
            assertTrue(permit.isHeld());
            return "won";
        }
    }
}
