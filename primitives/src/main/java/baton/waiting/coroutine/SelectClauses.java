package baton.waiting.coroutine;

import baton.InternalBatonApi;
import baton.waiting.threads.KotlinxNeed;
import java.util.List;
import kotlin.Unit;
import kotlin.coroutines.CoroutineContext;
import kotlin.jvm.functions.Function1;
import kotlin.jvm.functions.Function3;
import kotlinx.coroutines.selects.SelectClause;
import kotlinx.coroutines.selects.SelectClause0;
import kotlinx.coroutines.selects.SelectClause1;
import kotlinx.coroutines.selects.SelectClause2;
import kotlinx.coroutines.selects.SelectImplementation;
import kotlinx.coroutines.selects.SelectInstance;

/**
 * The only implementation of kotlinx.coroutines' clause interfaces, which are sealed for Kotlin but not for the JVM.
 * Tested against kotlinx-coroutines 1.8.1, 1.10.2 and 1.11.0.
 *
 * <p>Every clause is its own {@code clauseObject}: kotlinx refuses two clauses of one select that share it.
 */
@InternalBatonApi
public final class SelectClauses {
    private static final KotlinxNeed NEED = new KotlinxNeed(
            "clauses of select",
            () -> List.of(Clause0.class, Clause1.class, Clause2.class),
            "selects.SelectInstance.trySelect(Object, Object)",
            "selects.SelectInstance.disposeOnCompletion(DisposableHandle)",
            "selects.SelectInstance.selectInRegistrationPhase(Object)",
            "selects.SelectImplementation.invoke(Throwable)");

    private SelectClauses() {}

    public static SelectClause0 clause0(Selectable selectable) {
        NEED.require();
        return new Clause0(selectable);
    }

    public static <Q> SelectClause1<Q> clause1(Selectable selectable) {
        NEED.require();
        return new Clause1<>(selectable);
    }

    public static <P, Q> SelectClause2<P, Q> clause2(Selectable selectable) {
        NEED.require();
        return new Clause2<>(selectable);
    }

    private abstract static class Clause implements SelectClause {
        private final Selectable selectable;

        Clause(Selectable selectable) {
            this.selectable = selectable;
        }

        @Override
        public Object getClauseObject() {
            return this;
        }

        @Override
        public Function3<Object, SelectInstance<?>, Object, Unit> getRegFunc() {
            return (clause, select, param) -> {
                selectable.register(clause, select, param);
                return Unit.INSTANCE;
            };
        }

        @Override
        public Function3<Object, Object, Object, Object> getProcessResFunc() {
            return (clause, param, result) -> selectable.result(result);
        }

        @Override
        public Function3<SelectInstance<?>, Object, Object, Function3<Throwable, Object, CoroutineContext, Unit>>
                getOnCancellationConstructor() {
            return (select, param, result) -> new Undo(selectable, select, result);
        }
    }

    /** Called when a select that a clause of ours has won is cancelled before it runs: by kotlinx.coroutines 1.8 with one argument. */
    private record Undo(Selectable selectable, SelectInstance<?> select, Object result)
            implements Function1<Throwable, Unit>, Function3<Throwable, Object, CoroutineContext, Unit> {
        @Override
        public Unit invoke(Throwable cause, Object value, CoroutineContext context) {
            return invoke(cause);
        }

        @Override
        public Unit invoke(Throwable cause) {
            selectable.undo(result);
            disposeOfClauses(select, cause);
            return Unit.INSTANCE;
        }

        /**
         * kotlinx.coroutines forgets the other clauses of a select that wins while a clause registers again and that was
         * cancelled just before: its own handler, which disposes of them, is not installed yet. It does nothing where it
         * has run before. Where no clause of ours wins in that moment, we do not hear of it.
         */
        private static void disposeOfClauses(SelectInstance<?> select, Throwable cause) {
            if (select instanceof SelectImplementation<?> implementation) implementation.invoke(cause);
        }
    }

    private static final class Clause0 extends Clause implements SelectClause0 {
        Clause0(Selectable selectable) {
            super(selectable);
        }
    }

    private static final class Clause1<Q> extends Clause implements SelectClause1<Q> {
        Clause1(Selectable selectable) {
            super(selectable);
        }
    }

    private static final class Clause2<P, Q> extends Clause implements SelectClause2<P, Q> {
        Clause2(Selectable selectable) {
            super(selectable);
        }
    }
}
