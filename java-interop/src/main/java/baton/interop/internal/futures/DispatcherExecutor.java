package baton.interop.internal.futures;

import baton.Priority;
import baton.scheduler.PriorityDispatcher;
import java.util.concurrent.Callable;
import java.util.concurrent.RunnableFuture;
import kotlin.coroutines.EmptyCoroutineContext;
import org.jspecify.annotations.Nullable;

/** The commands of a {@link baton.interop.PriorityExecutor}, as blocks of its dispatcher. */
public final class DispatcherExecutor extends ManagedExecutor {
    private final PriorityDispatcher dispatcher;
    private final Priority priority;
    private final PriorityDispatcher view;

    public DispatcherExecutor(PriorityDispatcher dispatcher, Priority priority) {
        this.dispatcher = dispatcher;
        this.priority = priority;
        this.view = dispatcher.level(priority);
    }

    @Override
    @Nullable
    Throwable submitWork(Work work) {
        view.dispatch(EmptyCoroutineContext.INSTANCE, work);
        return null;
    }

    /** The future that {@link java.util.concurrent.ExecutorService#submit} executes. */
    @Override
    public <T extends @Nullable Object> RunnableFuture<T> newTaskFor(Callable<T> call) {
        return super.newTaskFor(call);
    }

    /** As the other. */
    @Override
    public <T extends @Nullable Object> RunnableFuture<T> newTaskFor(Runnable command, T value) {
        return super.newTaskFor(command, value);
    }

    @Override
    public String toString() {
        return "PriorityExecutor (" + priority + ", " + state() + ", on " + dispatcher + ")";
    }
}
