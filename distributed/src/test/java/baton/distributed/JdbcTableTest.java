package baton.distributed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.scheduler.jdbc.databases.PostgresDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A table that is there before the store is. */
class JdbcTableTest {
    private static final String LOCKS = "Locks";

    private DataSource source;
    private AutoCloseable end = () -> {};

    private void open(String database) throws Exception {
        if (database.equals("postgresql")) {
            PostgresDatabase server = new PostgresDatabase();
            source = server.getSource();
            end = server;
        } else {
            JdbcDataSource memory = new JdbcDataSource();
            memory.setURL("jdbc:h2:mem:tables;DB_CLOSE_DELAY=-1");
            source = memory;
            end = () -> execute("shutdown");
        }
    }

    @AfterEach
    void close() throws Exception {
        end.close();
    }

    private void execute(String sql) throws Exception {
        try (var connection = source.getConnection();
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(120, TimeUnit.SECONDS);
    }

    private void assertRefused(String why) {
        for (JdbcStore store : List.of(new JdbcStore(source, LOCKS), JdbcStore.validating(source, LOCKS))) {
            try (store) {
                Throwable failure = assertThrows(ExecutionException.class, () -> get(store.read("k")))
                        .getCause();
                assertInstanceOf(StoreUnavailableException.class, failure);
                String message = failure.getMessage();
                assertTrue(message.contains("the table " + LOCKS + " " + why), message);
                assertTrue(message.endsWith(JdbcStore.createStatement(LOCKS)), message);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"h2", "postgresql"})
    void table_thatLacksSomething_isNamed(String database) throws Exception {
        open(database);
        execute("create table Locks (doc_key varchar(512) primary key, text varchar(65536) not null)");
        assertRefused("has no column version");
        execute("alter table Locks add column version int");
        assertRefused("has a column version that is no bigint");
        execute("drop table Locks");
        execute("create table Locks (doc_key varchar(512) primary key, version bigint, text varchar(4000))");
        assertRefused("has a column text of 4000 characters, must have 65536");
        execute("drop table Locks");
        execute("create table Locks (doc_key varchar(512), version bigint, text varchar(65536))");
        assertRefused("has no primary key or unique index on doc_key alone");
        execute("create unique index both_columns on Locks (doc_key, version)");
        assertRefused("has no primary key or unique index on doc_key alone");
    }

    @ParameterizedTest
    @ValueSource(strings = {"h2", "postgresql"})
    void validatingStore_isUsableOnceItsTableIsThere(String database) throws Exception {
        open(database);
        try (JdbcStore store = JdbcStore.validating(source, LOCKS)) {
            Throwable failure = assertThrows(ExecutionException.class, () -> get(store.read("k")))
                    .getCause();
            assertInstanceOf(StoreUnavailableException.class, failure);
            assertTrue(failure.getMessage().contains("the table Locks does not exist"), failure.getMessage());
            execute(JdbcStore.createStatement(LOCKS));
            assertEquals(Optional.empty(), get(store.read("k")));
            assertTrue(get(store.compareAndSet("k", 0, new StoredDocument(1, "x"), List.of()))
                    .isStored());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"h2", "postgresql"})
    void table_ofASchema_isFound(String database) throws Exception {
        open(database);
        execute("create schema if not exists Locking");
        try (JdbcStore store = new JdbcStore(source, "Locking.Locks")) {
            assertEquals(Optional.empty(), get(store.read("k")));
        } finally {
            execute("drop schema Locking cascade");
        }
    }

    @Test
    void page_showsTheStatement() throws Exception {
        String page = Files.readString(Path.of("../docs/distributed.md"));
        assertTrue(page.contains("```sql\n" + JdbcStore.createStatement(JdbcStore.TABLE) + "\n```"), page);
    }

    @Test
    void key_withACharacterThatPostgreSqlCannotStore_isRefused() throws Exception {
        open("h2");
        try (JdbcStore store = new JdbcStore(source)) {
            assertThrows(IllegalArgumentException.class, () -> store.read("a\0b"));
        }
    }
}
