package samples

import java.nio.file.Files
import java.nio.file.Path
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation
import org.junit.jupiter.api.Order
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestMethodOrder
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource
import org.openqa.selenium.Keys

/** The page of UptimeMonitor in a browser. All tests share one browser, one page and one monitor. */
@Timeout(300, threadMode = SEPARATE_THREAD)
@TestMethodOrder(OrderAnnotation::class)
class UptimePageTest {
    @AfterEach fun assertNoErrors() = assertEquals(emptyList<String>(), browser.errors())

    @Test
    fun numbers_changeByThemselves_andAccountForEveryEndpoint() {
        val before = browser.text("#checks") to browser.text("#elapsed")
        browser.await("new numbers") {
            browser.text("#checks") != before.first && browser.text("#elapsed") != before.second
        }
        browser.await("the dead ones are down") { count("DOWN") >= 10 }
        // In one step, because the numbers change meanwhile.
        val (tiles, rows) =
            browser.script<List<Long>>(
                "const sum = s => [...document.querySelectorAll(s)].reduce((n, e) => n + Number(e.textContent), 0);" +
                    "return [sum('.tile b'), document.querySelectorAll('#endpoints tbody tr:not(.group)').length]"
            )
        assertEquals(ENDPOINTS, tiles)
        assertEquals(ENDPOINTS, rows)
        assertTrue(Regex("\\d+ of 200 running").matches(browser.text("#running")))
        assertTrue(Regex("\\d.* m?s, \\d.* m?s").matches(browser.text("#lag")), browser.text("#lag"))
        assertTrue(browser.text("#pollingWrites").replace(",", "").toInt() > browser.text("#writes").toInt())
        browser.screenshot("uptime-monitor.png")
    }

    @Test
    fun picture_hasAPointForEachLook_andSaysItInWords() {
        for (picture in listOf("utilisation", "wait")) {
            browser.await("points of $picture") {
                val curve: String? =
                    browser.script("return document.querySelector('#$picture .curve').getAttribute('d')")
                curve != null && curve.count { it == 'L' } >= 3
            }
            assertTrue(Regex("now .+, at most .+").matches(browser.text("#$picture-now")))
            val label: String =
                browser.script("return document.querySelector('#$picture svg').getAttribute('aria-label')")
            assertTrue(label.startsWith("the last five minutes: now "), label)
        }
    }

    @Test
    fun buttons_pauseAndResumeAnEndpoint_andCheckItNow() {
        browser.find("#filter").sendKeys("fast-1-07")
        browser.await("one row") { visibleRows() == listOf("fast-1-07") }
        button("pause").click()
        browser.await("paused") { browser.count(".PAUSED tr:not(.group)") == 1 }
        assertEquals("1", browser.text(".tile.PAUSED b"))
        assertEquals(" paused", browser.text(".PAUSED tr:not(.group) .state span"))
        button("check").click()
        browser.await("answered") { button("check").isEnabled }
        assertEquals("", browser.text("#message"))
        button("resume").click()
        browser.await("resumed") { browser.count(".PAUSED tr:not(.group)") == 0 }
        browser.find("#filter").clear()
        browser.find("#filter").sendKeys("no such name")
        browser.await("no row") { visibleRows().isEmpty() }
        browser.script<Any?>("const f = document.querySelector('#filter'); f.value = ''; f.oninput()")
        assertEquals(ENDPOINTS.toInt(), visibleRows().size)
    }

    @Test
    fun keyboard_alone_filtersPausesResumesAndChecks_theFocusStays() {
        browser.find("#filter").sendKeys("fast-1-08")
        browser.await("one row") { visibleRows() == listOf("fast-1-08") }
        browser.press(Keys.TAB)
        assertEquals("pause fast-1-08", browser.focused())
        assertEquals("solid", browser.script("return getComputedStyle(document.activeElement).outlineStyle"))
        browser.press(Keys.ENTER)
        browser.await("paused") { browser.count(".PAUSED tr:not(.group)") == 1 }
        assertEquals("resume fast-1-08", browser.focused())
        browser.await("the answer") { browser.count("[aria-busy]") == 0 }
        browser.press(Keys.SPACE)
        browser.await("resumed") { browser.count(".PAUSED tr:not(.group)") == 0 }
        assertEquals("pause fast-1-08", browser.focused())
        browser.press(Keys.TAB)
        assertEquals("check fast-1-08 now", browser.focused())
        browser.press(Keys.ENTER)
        browser.await("the result") {
            Regex("fast-1-08 was checked at \\d\\d:\\d\\d:\\d\\d: (up|down)").matches(browser.text("#checked"))
        }
        assertEquals("check fast-1-08 now", browser.focused())
        browser.press(Keys.chord(Keys.SHIFT, Keys.TAB))
        browser.press(Keys.chord(Keys.SHIFT, Keys.TAB))
        assertEquals("Show endpoints with this in their name", browser.focused())
        browser.press(Keys.ESCAPE)
        browser.await("all rows") { visibleRows().size == ENDPOINTS.toInt() }
    }

    @Test
    fun filter_hidesHeadingsWithoutRows_andSaysThatNothingIsFound() {
        browser.await("a dead one") { count("DOWN") > 0 }
        try {
            filter("fast-1-07")
            val state = browser.script<List<String>>(HEADINGS).single()
            assertTrue(Regex(" 1 of \\d+ [a-z ]+").matches(browser.text("tbody.$state .group span")))
            filter("no such name")
            assertEquals(emptyList<String>(), browser.script(HEADINGS))
            assertEquals("No endpoint has this in its name.", browser.text("#none"))
        } finally {
            filter("")
        }
        assertEquals("", browser.text("#none"))
        assertTrue("UP" in browser.script<List<String>>(HEADINGS))
    }

    @Test
    fun controls_haveNamesOfTheirOwn() {
        val buttons: List<String> =
            browser.script("return [...document.querySelectorAll('button')].map(b => b.getAttribute('aria-label'))")
        assertEquals(2 * ENDPOINTS.toInt(), buttons.toSet().size)
        assertTrue("pause fast-1-01" in buttons && "check fast-1-01 now" in buttons)
        val others = browser.accessibleNames("input, meter, svg[role=img], section:not([hidden]) > table, thead th")
        assertEquals(
            emptyList<Int>(),
            others.indices.filter { others[it].isBlank() && it < others.size - 7 },
            "$others",
        )
        assertEquals(listOf("state", "name", "level", "since", "response", "actions"), others.takeLast(6))
    }

    @ParameterizedTest
    @ValueSource(ints = [390, 768, 1100])
    fun names_areOnOneLine_textFits_andIsInContrast_atEachWidth(width: Int) =
        browser.atSize(width, 880) {
            browser.await("a dead one") { count("DOWN") > 0 }
            assertEquals(emptyList<String>(), browser.script(BROKEN_NAMES))
            assertEquals(emptyList<String>(), browser.script(CUT_TEXTS))
            assertEquals(emptyList<String>(), browser.script(FAINT))
            browser.screenshot("uptime-monitor-$width.png")
            browser.inTheDark {
                assertEquals(emptyList<String>(), browser.script(FAINT))
                browser.screenshot("uptime-monitor-$width-dark.png")
            }
            browser.script<Any?>("document.querySelector('tbody.DOWN').scrollIntoView()")
            browser.screenshot("uptime-monitor-$width-endpoints.png")
            browser.script<Any?>("scrollTo(0, 0)")
        }

    @Test
    fun alerts_nameTheBreakersThatAreOpen() =
        browser.await("an alert") { "the breaker of dead.demo is open" in browser.text("#alerts") }

    @Test
    fun name_likeATag_isText() {
        assertEquals(1, browser.script<List<String>>(NAMES).count { it == TAG })
        assertEquals(0, browser.count("td img"))
    }

    @Test
    fun narrow_doesNotScrollSideways_statesHaveShapes() =
        browser.atSize(400, 860) {
            val widths: List<Long> =
                browser.script("const d = document.documentElement; return [d.clientWidth, d.scrollWidth]")
            assertEquals(listOf(400L, 400L), widths)
            assertTrue(button("pause").isDisplayed)
            val shape: String =
                browser.script("return document.querySelector('tbody.DOWN .state use').getAttribute('href')")
            assertEquals("#DOWN", shape)
            assertTrue(Regex(" \\d+ down").matches(browser.text("tbody.DOWN .group span")))
            browser.screenshot("uptime-monitor-narrow.png")
        }

    @Test
    fun dark_isLightOnDark() {
        assertTrue(luminance("backgroundColor") > 0.8 && luminance("color") < 0.2)
        browser.inTheDark {
            assertTrue(luminance("backgroundColor") < 0.15 && luminance("color") > 0.6)
            browser.screenshot("uptime-monitor-dark.png")
        }
    }

    @Test
    @Order(Int.MAX_VALUE)
    fun monitor_killed_isSaidOnThePage() {
        monitor.destroyForcibly().waitFor()

        browser.await("the loss is shown") { browser.text("#connection") == "the monitor does not answer" }
        browser.find("tbody.UP [data-action=check]").click()
        browser.await("the message is shown") { browser.text("#message") == "The monitor does not answer." }
        assertTrue(browser.errors().isNotEmpty())
    }

    private fun count(state: String) = browser.text(".tile.$state b").toInt()

    /** That of the first visible endpoint. */
    private fun button(action: String) = browser.find("#endpoints tbody tr:not([hidden]) [data-action=$action]")

    private fun filter(text: String) {
        browser.script<Any?>("const f = document.querySelector('#filter'); f.value = arguments[0]; f.oninput()", text)
    }

    private fun visibleRows(): List<String> = browser.script(NAMES)

    /** That of the page, from 0 to 1. */
    private fun luminance(property: String): Double {
        val color: String = browser.script("return getComputedStyle(document.body)[arguments[0]]", property)
        return Regex("\\d+").findAll(color).take(3).map { it.value.toDouble() / 255 }.average()
    }

    companion object {
        private const val TAG = "<img/src='x'/onerror='alert(1)'>"
        private const val ENDPOINTS = 501L
        private const val NAMES =
            "return [...document.querySelectorAll('#endpoints tbody tr:not(.group):not([hidden]) .name')]" +
                ".map(name => name.firstChild.data)"

        private const val HEADINGS =
            "return [...document.querySelectorAll('#endpoints tbody')].filter(b => b.offsetHeight > 0)" +
                ".map(b => b.className)"

        /** Those of more than one line, but for the long one. */
        private val BROKEN_NAMES =
            """
            return [...document.querySelectorAll('#endpoints .name')].filter(name => {
              const range = document.createRange();
              range.selectNode(name.firstChild);
              return range.getClientRects().length > 1 && name.firstChild.data.length < 20;
            }).map(name => name.firstChild.data)"""

        private val CUT_TEXTS =
            """
            return [...document.querySelectorAll('td, th, dt, dd, button, h2, .card')]
              .filter(e => e.offsetWidth > 0 && e.scrollWidth > e.clientWidth + 1)
              .map(e => e.textContent)"""

        /** Texts with a contrast below 4.5, and frames of controls with one below 3, by the formulas of WCAG 2. */
        private val FAINT =
            """
            const rgb = color => color.match(/[\d.]+/g).map(Number);
            const light = c => c / 255 <= .04045 ? c / 255 / 12.92 : ((c / 255 + .055) / 1.055) ** 2.4;
            const luminance = ([r, g, b]) => .2126 * light(r) + .7152 * light(g) + .0722 * light(b);
            const behind = e => {
              for (let at = e; at; at = at.parentElement) {
                const color = rgb(getComputedStyle(at).backgroundColor);
                if (color.length < 4 || color[3] > 0) return color;
              }
              return [255, 255, 255];
            };
            const contrast = (color, e) => {
              const [a, b] = [luminance(rgb(color)), luminance(behind(e))];
              return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
            };
            const all = [...document.querySelectorAll('body *')].filter(e => e.checkVisibility());
            const texts = all.filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
              .map(e => [e.textContent, contrast(getComputedStyle(e).color, e), 4.5]);
            const frames = all.filter(e => e.matches('button, input'))
              .map(e => [e.ariaLabel, contrast(getComputedStyle(e).borderTopColor, e.parentElement), 3]);
            const hint = document.querySelector('#filter');
            texts.push(['hint', contrast(getComputedStyle(hint, '::placeholder').color, hint), 4.5]);
            return [...texts, ...frames].filter(([, is, least]) => is < least).map(([text, is]) => text + ' ' + is)"""

        @TempDir @JvmStatic lateinit var directory: Path

        private lateinit var browser: Browser
        private lateinit var monitor: Process

        @JvmStatic
        @BeforeAll
        fun openThePage() {
            browser = Browser.startOrSkip()
            val shipped = UptimePageTest::class.java.getResource("/endpoints.txt")!!.readText()
            val file = directory.resolve("endpoints.txt")
            Files.writeString(file, "$shipped\n$TAG http://fast-1.demo/tag 60s LOW\n")
            monitor =
                Twin.JAVA.start(
                    "UptimeMonitor",
                    "--endpoints",
                    "$file",
                    "--serve",
                    "0",
                    "--for",
                    "10m",
                    "--speed",
                    "20",
                )
            val lines = monitor.inputReader().lineSequence()
            browser.open(lines.first { "the page is at " in it }.substringAfter("the page is at "))
            browser.await("the first event") { browser.text("#connection") == "live" }
        }

        @JvmStatic
        @AfterAll
        fun end() {
            if (::monitor.isInitialized) monitor.destroyForcibly()
            if (::browser.isInitialized) browser.close()
        }
    }
}
