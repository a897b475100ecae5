package baton.interop.internal.futures;

import baton.bridge.FlightCaller;
import baton.interop.CancellableFuture;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The load of a run that callers share. */
public interface SharedLoad<V extends @Nullable Object> {
    /** Starts the load for the caller that begins the run. */
    CompletionStage<V> start(FlightCaller<V> caller) throws Exception;

    /** A load on the thread that begins the run. */
    static <V extends @Nullable Object> SharedLoad<V> of(Supplier<? extends CompletionStage<V>> load) {
        Objects.requireNonNull(load, "load");
        return caller ->
                caller.runInside(() -> Objects.requireNonNull(load.get(), "the load returned null instead of a stage"));
    }

    /** A load that the executor runs. Cancelling its stage interrupts it. */
    static <V extends @Nullable Object> SharedLoad<V> of(Callable<V> load, Executor executor) {
        Objects.requireNonNull(load, "load");
        Objects.requireNonNull(executor, "executor");
        return caller -> CancellableFuture.supply(executor, token -> {
            token.interruptible();
            return caller.runInside(load);
        });
    }

    /** Starts the load, if this caller begins the run. The end of its stage, or what it throws, ends the run. */
    static <V extends @Nullable Object> void begin(FlightCaller<V> caller, SharedLoad<V> load) {
        if (!caller.getBegins()) return;
        try {
            CompletionStage<V> stage = load.start(caller);
            caller.onAbandoned(() -> Stages.cancel(stage));
            var unused = stage.whenComplete((value, e) -> {
                if (e == null) caller.succeed(value);
                else caller.fail(Stages.unwrap(e));
            });
        } catch (Throwable e) {
            caller.fail(e);
        }
    }
}
