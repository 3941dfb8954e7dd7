package dev.onehop.measure.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.RunResults;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Stored results: samples for rate, fleet, copy and resync, otherwise of real runs. A {@code
 * results.json} that is read and written again is unchanged. The numbers in the tables of the
 * terminal and of the page equal the stored list. The test writes its own lists to {@code
 * target/golden}.
 */
class GoldenResultsTest {
  private static final Path GOLDEN = Path.of("src/test/resources/golden");
  private static final Pattern COLUMNS = Pattern.compile(" {2,}");
  private static final Pattern ROW = Pattern.compile("<tr.*?</tr>", Pattern.DOTALL);
  private static final Pattern CELL = Pattern.compile("<t[dh][ >].*?</t[dh]>", Pattern.DOTALL);

  /** A cell that begins with a number, such as {@code 33/34/33} or {@code 1.0-2.0 ms}. */
  private static final Pattern NUMBER = Pattern.compile("(>=|[-+])?\\d.*");

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "points",
        "rate",
        "shard-freeze",
        "fleet",
        "zones",
        "consume",
        "propagate",
        "copy",
        "resync"
      })
  void readsWritesAndShowsSameResults(String name) throws Exception {
    Path golden = GOLDEN.resolve(name + ".json");
    Files.copy(golden, folder.resolve(ResultsFile.NAME));
    RunResults results = ResultsFile.readAny(folder);

    ObjectMapper json = new ObjectMapper();
    assertThat(json.readTree(ResultsFile.toJson(results)))
        .isEqualTo(json.readTree(golden.toFile()));

    List<String> numbers = new ArrayList<>(List.of("# terminal"));
    numbers.addAll(ofText(Reports.table(results)));
    numbers.add("# page");
    String page = Reports.html(results, folder);
    numbers.addAll(ofPage(page));
    Path kept = Files.createDirectories(Path.of("target/golden"));
    Files.writeString(kept.resolve(name + ".html"), page);
    Files.writeString(kept.resolve(name + ".table.txt"), Reports.table(results));
    Files.write(kept.resolve(name + ".txt"), numbers);
    assertThat(numbers).isEqualTo(Files.readAllLines(GOLDEN.resolve(name + ".txt")));
  }

  /** The numbers of each row of a table, whose cells are two spaces apart. */
  private static List<String> ofText(String text) {
    return text.lines()
        .filter(line -> COLUMNS.split(line.strip()).length > 1)
        .map(line -> numbers(Arrays.stream(COLUMNS.split(line.strip()))))
        .filter(numbers -> !numbers.isEmpty())
        .toList();
  }

  private static List<String> ofPage(String html) {
    return ROW.matcher(html)
        .results()
        .map(row -> CELL.matcher(row.group()).results().map(cell -> text(cell.group())))
        .map(GoldenResultsTest::numbers)
        .filter(numbers -> !numbers.isEmpty())
        .toList();
  }

  private static String text(String html) {
    return html.replaceAll("<[^>]*>", "").replace("&gt;", ">").strip();
  }

  private static String numbers(Stream<String> cells) {
    return String.join(" | ", cells.filter(cell -> NUMBER.matcher(cell).matches()).toList());
  }
}
