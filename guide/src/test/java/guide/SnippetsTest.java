package guide;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** This file is one of the sources, so each snippet here is of two literals, and does not occur as such. */
@Tag("any-jdk")
class SnippetsTest {
    private final int first = 1;

    private final int second = 2;

    @Test
    void paragraphs_occur_ifNoTestBeginsBetweenThem() {
        assertEquals(3, first + second);
        String declaration = "private final int" + " second = 2;\n\n";
        assertEquals(List.of(), Snippets.missing(List.of("class Snippets" + "Test {\n\n" + declaration)));
        String otherTest = declaration + "assertEquals(3," + " first + second);\n";
        assertEquals(List.of(otherTest), Snippets.missing(List.of(otherTest)));
    }

    @Test
    void snippets_thatDifferFromTheSources_areMissing() {
        List<String> snippets = List.of(
                "private final int" + " first = 3;\n",
                "private final int" + " second = 2;\n\nprivate final int" + " first = 1;\n",
                "import java." + "util.Set;\n\nprivate final int" + " first = 1;\n");
        assertEquals(snippets, Snippets.missing(snippets));
    }
}
