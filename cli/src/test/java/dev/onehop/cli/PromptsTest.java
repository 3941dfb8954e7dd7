package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.measure.delivery.Measurement;
import dev.onehop.resync.Failure;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class PromptsTest {

  private static final List<Measurement> ALL = List.of(Measurement.values());

  private final ByteArrayOutputStream shown = new ByteArrayOutputStream();

  private Prompts answering(String answers) {
    return new Prompts(
        new BufferedReader(new StringReader(answers)),
        new PrintStream(shown, true, StandardCharsets.UTF_8));
  }

  private String text() {
    return shown.toString(StandardCharsets.UTF_8);
  }

  @Test
  void menuListsAllMeasurements() {
    assertThat(answering("4\n").measurements(ALL)).containsExactly(Measurement.BOOTSTRAP);
    int number = 1;
    for (Measurement each : Measurement.values()) {
      assertThat(text()).contains(number++ + "  " + each.label());
    }
    assertThat(answering("7\n").measurements(ALL)).containsExactly(Measurement.values());
    assertThat(answering("\n").measurements(ALL)).containsExactly(Measurement.CLIENT_TO_CLIENT);

    List<Measurement> some = List.of(Measurement.MONGO_TO_CLIENT, Measurement.CLIENT_TO_MONGO);
    assertThat(answering("4\n3\n").measurements(some)).isEqualTo(some);
    assertThat(text()).contains("A number from 1 to 3, please.");
  }

  @Test
  void repeatsQuestionUntilNumberIsValid() {
    int tests =
        answering("many\n0\n11\n-3\n99999999999\n 7 \n").number("Number of tests to run", 5, 1, 10);

    assertThat(tests).isEqualTo(7);
    assertThat(text().split("Number of tests to run \\[5]: ", -1)).hasSize(7);
    assertThat(text()).contains("A number from 1 to 10, please.");
  }

  @Test
  void acceptsListsAndDefaults() {
    assertThat(answering("1,x\n1, 10,100\n").numbers("Objects", 50, 1, 100))
        .isEqualTo(List.of(1, 10, 100));
    assertThat(answering("\n").numbers("Objects", 50, 1, 100)).containsExactly(50);
  }

  @Test
  void endOfInputIsUsageError() {
    assertThatThrownBy(() -> answering("").number("Number of tests to run", 5, 1, 10))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("no answer")
        .extracting(e -> ((Failure) e).exitCode())
        .isEqualTo(Failure.USAGE);
  }
}
