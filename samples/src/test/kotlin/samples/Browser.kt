package samples

import java.nio.file.Files
import java.nio.file.Path
import java.util.logging.Level
import java.util.logging.Logger
import org.junit.jupiter.api.Assumptions.abort
import org.openqa.selenium.By
import org.openqa.selenium.OutputType
import org.openqa.selenium.WebElement
import org.openqa.selenium.chrome.ChromeDriver
import org.openqa.selenium.chrome.ChromeDriverService
import org.openqa.selenium.chrome.ChromeOptions
import org.openqa.selenium.interactions.Actions

/** Debian's Chromium, without a window. Where it is missing, the tests are skipped, or fail if it is required. */
class Browser private constructor(private val driver: ChromeDriver) : AutoCloseable {
    fun open(address: String) = driver.get(address)

    fun find(selector: String): WebElement = driver.findElement(By.cssSelector(selector))

    fun text(selector: String): String = script("return document.querySelector(arguments[0]).textContent", selector)

    fun count(selector: String): Int = driver.findElements(By.cssSelector(selector)).size

    @Suppress("UNCHECKED_CAST")
    fun <T> script(script: String, vararg arguments: Any): T = driver.executeScript(script, *arguments) as T

    /** Waits until [condition] holds, which is checked some times a second; fails with [what] after two minutes. */
    fun await(what: String, condition: () -> Boolean) {
        val end = System.nanoTime() + 120_000_000_000
        while (!condition()) {
            if (System.nanoTime() > end) throw AssertionError("not within two minutes: $what")
            script<Any?>("return new Promise(done => setTimeout(done, 50))")
        }
    }

    /** Presses [keys] wherever the focus is. */
    fun press(vararg keys: CharSequence) = Actions(driver).sendKeys(*keys).perform()

    /** How assistive technology calls what has the focus. */
    fun focused(): String = driver.switchTo().activeElement().accessibleName.orEmpty()

    /** How it calls each element that [selector] selects. */
    fun accessibleNames(selector: String): List<String> =
        driver.findElements(By.cssSelector(selector)).map { it.accessibleName.orEmpty() }

    /** The page as on a screen of this size, until [block] ends. */
    fun atSize(width: Int, height: Int, block: () -> Unit) {
        val size = mapOf("width" to width, "height" to height, "deviceScaleFactor" to 1, "mobile" to false)
        driver.executeCdpCommand("Emulation.setDeviceMetricsOverride", size)
        try {
            block()
        } finally {
            driver.executeCdpCommand("Emulation.clearDeviceMetricsOverride", mapOf())
        }
    }

    /** The page as for a user who prefers dark colours, until [block] ends. */
    fun inTheDark(block: () -> Unit) {
        fun emulate(scheme: String) {
            val feature = mapOf("name" to "prefers-color-scheme", "value" to scheme)
            driver.executeCdpCommand("Emulation.setEmulatedMedia", mapOf("features" to listOf(feature)))
        }
        emulate("dark")
        try {
            block()
        } finally {
            emulate("light")
        }
    }

    /** Errors of scripts, refused resources and the like, since the previous call. */
    fun errors(): List<String> = driver.manage().logs().get("browser").all.map { it.message }

    /** Writes what is visible into the build folder. */
    fun screenshot(name: String) {
        Files.write(
            Files.createDirectories(Path.of("target", "screenshots")).resolve(name),
            driver.getScreenshotAs(OutputType.BYTES),
        )
    }

    override fun close() = driver.quit()

    companion object {
        /** Would warn of each newer Chromium. A logger that is not held loses its level. */
        private val LOG = Logger.getLogger("org.openqa.selenium")

        private val BROWSER = Path.of("/usr/bin/chromium")
        private val DRIVER = Path.of("/usr/bin/chromedriver")

        fun startOrSkip(): Browser {
            val missing = listOf(BROWSER, DRIVER).filterNot(Files::isExecutable)
            if (missing.isNotEmpty()) {
                val packages = "the packages are chromium and chromium-driver"
                if (System.getProperty("browser.required").toBoolean()) throw AssertionError("no $missing: $packages")
                System.err.println("\nTHE TESTS OF THE PAGE IN A BROWSER ARE SKIPPED: NO $missing; $packages\n")
                abort<Nothing>("no $missing")
            }
            LOG.level = Level.SEVERE
            val options = ChromeOptions()
            options.setBinary(BROWSER.toFile())
            // It opens nothing but the page on this computer; its sandbox does not start as root, or in most
            // containers.
            options.addArguments(
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
            )
            // No request to other hosts.
            options.addArguments("--disable-quic", "--no-first-run", "--disable-background-networking")
            options.addArguments("--disable-component-update", "--disable-sync", "--window-size=1100,880")
            options.setCapability("goog:loggingPrefs", mapOf("browser" to "WARNING"))
            val service = ChromeDriverService.Builder().usingDriverExecutable(DRIVER.toFile()).withSilent(true).build()
            return Browser(ChromeDriver(service, options))
        }
    }
}
