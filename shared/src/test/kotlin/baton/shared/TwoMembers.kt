package baton.shared

import java.nio.file.Path
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.io.TempDir

/** Two regions of one file in this process: each is a member of its own, as another process is. */
abstract class TwoMembers {
    @TempDir private lateinit var directory: Path
    protected lateinit var path: Path
    protected lateinit var here: SharedRegion
    protected lateinit var there: SharedRegion

    @BeforeEach
    fun open() {
        path = directory.resolve("app").toAbsolutePath()
        here = SharedRegion.open(path)
        there = SharedRegion.open(path)
    }

    @AfterEach
    fun close() {
        here.close()
        there.close()
    }
}
