package baton.test.stores;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.distributed.CoordinationStore;
import baton.distributed.JdbcStore;
import baton.distributed.OutcomeUnknownException;
import baton.distributed.StoreUnavailableException;
import baton.distributed.StoredDocument;
import baton.test.StoreContract;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JdbcStoreTest extends StoreContract {
    @TempDir
    Path folder;

    @Override
    protected CoordinationStore open() {
        return JdbcStore.h2(folder.resolve("locks"));
    }

    private JdbcDataSource memory(String name) {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1");
        return source;
    }

    @Test
    void tableThatIsDropped_isCreatedAgain() throws Exception {
        JdbcDataSource source = memory("dropped");
        try (JdbcStore store = new JdbcStore(source)) {
            store.compareAndSet("k", 0, new StoredDocument(1, ""), List.of())
                    .toCompletableFuture()
                    .get(120, TimeUnit.SECONDS);
            try (var connection = source.getConnection();
                    var statement = connection.createStatement()) {
                statement.execute("drop table " + JdbcStore.TABLE);
            }
            assertInstanceOf(
                    OutcomeUnknownException.class, failure(store.read("k").toCompletableFuture()));
            assertFalse(store.read("k")
                    .toCompletableFuture()
                    .get(120, TimeUnit.SECONDS)
                    .isPresent());
            assertFalse(store.isKnownNew());
        }
    }

    @Test
    void databaseThatCannotBeReached_isUnavailable() {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL("jdbc:h2:tcp://localhost:1/none");
        try (JdbcStore store = new JdbcStore(source)) {
            Throwable failure = failure(store.compareAndSet("k", 0, new StoredDocument(1, ""), List.of())
                    .toCompletableFuture());
            assertInstanceOf(StoreUnavailableException.class, failure);
            assertTrue(failure.getMessage().contains(JdbcStore.TABLE), failure.getMessage());
        }
    }

    @Test
    void closedStore_isUnavailable() throws Exception {
        JdbcStore store = new JdbcStore(memory("closed"));
        store.read("k").toCompletableFuture().get(120, TimeUnit.SECONDS);
        store.close();
        store.close();
        assertInstanceOf(
                StoreUnavailableException.class, failure(store.read("k").toCompletableFuture()));
    }

    @Test
    void nameOfATable_thatIsNone_isRefused() {
        assertThrows(IllegalArgumentException.class, () -> new JdbcStore(memory("name"), "x; drop table y"));
    }

    private static Throwable failure(CompletableFuture<?> future) {
        ExecutionException e = assertThrows(ExecutionException.class, () -> future.get(120, TimeUnit.SECONDS));
        return e.getCause();
    }
}
