package dev.onehop.jmh.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BarsTest {
  private static final String GOOD =
      """
      rounds: 3
      more rounds: 2
      warmup: {iterations: 2, milliseconds: 300}
      measurement: {iterations: 4, milliseconds: 200}
      bars:
        - name: fast
          benchmark: a.A.a
          baseline: a.A.b
          parameters: {size: 10, kind: x}
          baseline parameters: {kind: y}
          at least: 1.5
        - name: once
          benchmark: a.A.a
          baseline: a.A.b
          at least: 2
          more bytes: 512
          rounds: 1
          measurement: {iterations: 1, milliseconds: 1}
      """;

  @Test
  void readsBothSidesOfABar() {
    Bars bars = Bars.parse("bars", GOOD);
    Bar fast = bars.bars().get(0);
    assertThat(fast.rounds()).isEqualTo(3);
    assertThat(fast.benchmark().parameters()).isEqualTo(Map.of("size", "10", "kind", "x"));
    assertThat(fast.baseline().parameters()).isEqualTo(Map.of("size", "10", "kind", "y"));
    assertThat(fast.atLeast()).isEqualTo(1.5);
    assertThat(fast.moreBytes()).isNull();
    assertThat(bars.bars().get(1).moreBytes()).isEqualTo(512);
    assertThat(bars.bars().get(1).rounds()).isOne();
    assertThat(bars.bars().get(1).benchmark().warmup()).isEqualTo(fast.benchmark().warmup());
    assertThat(bars.bars().get(1).benchmark().measurement().iterations()).isOne();
  }

  @Test
  void picksBarsByName() {
    assertThat(Bars.parse("bars", GOOD).matching(Pattern.compile("^on")).bars())
        .extracting(Bar::name)
        .containsExactly("once");
  }

  @Test
  void theBenchmarksOwnAreReadable() {
    assertThat(Bars.own().bars())
        .extracting(Bar::name)
        .contains("routing-table lookup", "key encoding", "hashing", "targeting", "refresh")
        .contains("shared sockets", "wire codec", "workload");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "at least: 1.5 | at least: 0 | number 1: at least must be a number above 0",
        "at least: 1.5 | at most: 1.5 | number 1: unknown \"at most\"",
        "rounds: 3 | rounds: none | rounds must be a whole number, 1 or more",
        "benchmark: a.A.a | benchmark: 7 | number 1: benchmark is missing or no text",
        "bars: | others: | unknown \"others\"",
        "more rounds: 2 | more rounds: [ | is not YAML",
        "warmup: {iterations: 2, | warmup: {times: 2, | warmup: unknown \"times\""
      })
  void saysWhereABarsFileIsWrong(String good, String bad, String complaint) {
    assertThatThrownBy(() -> Bars.parse("my.yaml", GOOD.replaceFirst(Pattern.quote(good), bad)))
        .isInstanceOf(BarsException.class)
        .hasMessageStartingWith("my.yaml")
        .hasMessageContaining(complaint);
  }
}
