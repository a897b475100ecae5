package samples

import java.io.ByteArrayOutputStream
import java.net.URI
import java.util.logging.Level
import java.util.logging.Logger
import java.util.logging.SimpleFormatter
import java.util.logging.StreamHandler
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** The passwords that UptimeMonitor is given are in nothing that it writes. All of them contain the word S3CRET. */
@Timeout(300, threadMode = SEPARATE_THREAD)
class UptimeSecretsTest : UptimeRun() {
    private val log = ByteArrayOutputStream()

    @ParameterizedTest
    @ValueSource(
        strings =
            [
                "jdbc:h2:DIR/h2;UNKNOWN=1;PASSWORD=my-S3CRET",
                "jdbc:h2:DIR/h2;PASSWORD=my-S3CRET;PASSWORD=other-S3CRET",
                "jdbc:h2:DIR/h2;PASSWORD=my\\;S3CRET;UNKNOWN=1",
                "jdbc:h2:DIR/h2;USER=u;PASSWORD=my S3CRET;UNKNOWN=1",
                "jdbc:h2:DIR/h2;CIPHER=AES;PASSWORD=onlyone-S3CRET",
                "jdbc:h2:DIR/h2;CIPHER=AES;UNKNOWN=1;PASSWORD=file-S3CRET user-S3CRET",
                "jdbc:h2:tcp://127.0.0.1:1/h2;USER=u;PASSWORD=my-S3CRET",
                "jdbc:h2:tcp://u:my-S3CRET@127.0.0.1:1/h2",
                "jdbc:h2:ssl:u:my-S3CRET@127.0.0.1:1/h2",
                "jdbc:h2:;PASSWORD=my-S3CRET",
                "jdbc:sqlite:DIR/nowhere/checks.db?password=my-S3CRET",
                "jdbc:sqlite:DIR/nowhere/checks.db?key=my S3CRET",
                "jdbc:sqlite:DIR/nowhere/checks.db;password=my-S3CRET",
                "jdbc:sqlite:file:DIR/nowhere/checks.db?mode=ro&password=my-S3CRET",
                "jdbc:postgresql://127.0.0.1:1/checks?user=u&password=my-S3CRET",
                "jdbc:postgresql://127.0.0.1:1/checks?user=u&password=my%2DS3CRET%ZZ",
                "jdbc:postgresql://127.0.0.1:1/checks?ssl=true&sslpassword=my-S3CRET&user=u",
                "jdbc:postgresql://127.0.0.1:1/checks?connectTimeout=never&password=my-S3CRET",
                "jdbc:postgresql://127.0.0.1:1,127.0.0.1:2/checks?password=my-S3CRET",
                "jdbc:postgresql://u:my-S3CRET@127.0.0.1:1/checks",
                "jdbc:postgresql://u:my/S3CRET@127.0.0.1:1/checks",
                "jdbc:postgresql://u:1/S3CRET@127.0.0.1/checks",
                "jdbc:postgresql://my-S3CRET@127.0.0.1:1/checks",
                "jdbc:postgresql://127.0.0.1:S3CRET/checks",
                "jdbc:mysql://127.0.0.1/checks?user=u&password=my-S3CRET",
                "jdbc:mysql://u:my-S3CRET@127.0.0.1/checks",
                "jdbc:oracle:thin:u/my-S3CRET@127.0.0.1:1521:checks",
                "jdbc:sqlserver://127.0.0.1;user=u;password={my S3CRET}",
                "postgresql://u:my-S3CRET@127.0.0.1/checks",
                "JDBC:H2:mem:x;PASSWORD=my-S3CRET",
                "u:my-S3CRET@127.0.0.1",
            ]
    )
    fun store_refused_isNamedWithoutItsPassword(url: String) {
        write("fast-01 http://fast.demo/01 60s HIGH")

        val outcome = logged { run("--for", "1s", "--store", url.replace("DIR", "$directory")) }

        assertNoSecret(outcome)
        assertTrue(outcome.err.startsWith("cannot use the state ") || outcome.err.startsWith("--store "), outcome.err)
        assertTrue(outcome.exitCode != 0)
    }

    @Test
    fun store_withAPassword_isUsed_andAWrongPasswordRefused() {
        write("fast-01 http://fast.demo/01 60s HIGH")
        val url = "jdbc:h2:$directory/checks;USER=u;PASSWORD="
        val child = start("--for", "10m", "--serve", "0", "--metrics", "--store", "${url}my-S3CRET")
        val lines = child.inputReader()
        val started = lines.awaitLine("watching 1 endpoints of $file")
        val page = URI(lines.awaitLine("/").substringAfter("the page is at "))
        for (path in listOf("/", "/status", "/metrics")) {
            assertFalse("S3CRET" in page.resolve(path).toURL().readText(), path)
        }
        child.toHandle().destroyForcibly() // The process itself would close its output, too.
        assertFalse("S3CRET" in started + lines.readText() + child.errorReader().readText())

        val wrong = logged { run("--for", "1s", "--store", "${url}not-S3CRET") }

        assertNoSecret(wrong)
        assertTrue("Wrong user name or password" in wrong.err, wrong.err)
    }

    @Test
    fun endpoints_withAUserOrAToken_areQuotedWithoutThem() {
        write(
            "fast-01 http://fast.demo/01 60s HIGH",
            "a https://u:my-S3CRET@host.example/ 60s HIGH",
            "a https://my-S3CRET@host.example/ 60s HIGH",
            "a https://u:my/S3CRET@host.example/ 60s HIGH",
            "a https://u:my@S3CRET@host.example/ 60s HIGH",
            "a u:my-S3CRET@host.example 60s HIGH",
            "a https://host.example/?token=my-S3CRET often HIGH",
            "a https://host.example/;session=my-S3CRET?b&c=my-S3CRET often HIGH",
            "https://u:my-S3CRET@host.example/ a 60s HIGH",
            "a http://host.example/ https://u:my-S3CRET@host.example/ HIGH",
            "a http://host.example/ 60s https://host.example/?key=my-S3CRET",
        )

        val outcome = logged { run("--for", "1s") }

        assertNoSecret(outcome)
        assertEquals(10, outcome.err.trim().lines().size, outcome.err)
        val first = "a URL has no user and no password: 'a https://***@host.example/ 60s HIGH' is left out"
        assertEquals("$file, line 2: $first", outcome.err.lines().first())
    }

    @Test
    fun options_unknown_areQuotedWithoutSecrets() {
        for (word in listOf("postgresql://u:my-S3CRET@host/db", "--password=my-S3CRET", "?a=my-S3CRET")) {
            assertNoSecret(logged { run(word) })
            assertNoSecret(logged { run("--speed", word) })
        }
        assertEquals("unknown option '?[2J', see --help", sample.refusal("\u001b[2J"))
    }

    private fun assertNoSecret(outcome: Outcome) {
        for (text in listOf(outcome.out, outcome.err, "$log")) assertFalse("S3CRET" in text, text)
    }

    /** With all that drivers log. */
    private fun logged(run: () -> Outcome): Outcome {
        val root = Logger.getLogger("")
        val handler = StreamHandler(log, SimpleFormatter()).apply { level = Level.ALL }
        val level = root.level
        root.addHandler(handler)
        root.level = Level.ALL
        try {
            return run()
        } finally {
            root.level = level
            root.removeHandler(handler)
            handler.flush()
        }
    }
}
