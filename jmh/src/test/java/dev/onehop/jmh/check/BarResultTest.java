package dev.onehop.jmh.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.jmh.check.Side.Iterations;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BarResultTest {
  private static final Iterations SHORT = new Iterations(1, 1);

  private static BarResult verdict(double atLeast, Double... ratios) {
    return ofRounds(1, atLeast, ratios);
  }

  private static BarResult ofRounds(int rounds, double atLeast, Double... ratios) {
    return measured(rounds, null, 1e9, atLeast, ratios);
  }

  private static BarResult withBytes(
      @Nullable Integer moreBytes, double bytes, double atLeast, Double... ratios) {
    return measured(1, moreBytes, bytes, atLeast, ratios);
  }

  private static BarResult measured(
      int rounds, @Nullable Integer moreBytes, double bytes, double atLeast, Double... ratios) {
    Side fast = new Side("t.T.run", Map.of("kind", "new", "size", "1"), SHORT, SHORT);
    Side base = new Side("t.T.run", Map.of("kind", "old", "size", "1"), SHORT, SHORT);
    return new BarResult(
        new Comparison("thing", fast, base, atLeast, moreBytes, rounds),
        List.of(ratios),
        List.of(bytes, bytes, bytes));
  }

  @Test
  void medianDecides() {
    assertThat(verdict(2, 2.1, 0.1, 2.2).held()).isTrue();
    assertThat(verdict(2, 1.9, 9.0, 1.8).held()).isFalse();
    assertThat(verdict(2, 1.0, 2.0, 3.0, 9.0).ratio()).isEqualTo(2.5);
    assertThat(verdict(2, 2.0).held()).isTrue();
  }

  @Test
  void checksBytesAgainstLimit() {
    assertThat(withBytes(512, 511.8, 2, 2.0).held()).isTrue();
    assertThat(withBytes(512, 512.8, 2, 2.0).held()).isFalse();
    assertThat(withBytes(512, 100, 2, 1.9).held()).isFalse();
    assertThat(withBytes(512, 511.8, 2, 2.0).row()).contains("512 more bytes (limit 512)");
    assertThat(withBytes(512, 600, 2, 2.0).complaint())
        .isEqualTo(
            "thing: t.T.run[kind=new] allocates 600 more bytes (limit 512) per operation than"
                + " t.T.run[kind=old]");
  }

  @Test
  void unmeasuredBytesBreakBar() {
    assertThat(withBytes(512, Double.NaN, 2, 2.0).held()).isFalse();
    assertThat(withBytes(512, 600, 2, 2.0).isCertain()).isFalse();
  }

  @Test
  void isCertainWhenRoundsCannotChangeResult() {
    assertThat(ofRounds(3, 2).isCertain()).isFalse();
    assertThat(ofRounds(3, 2, 2.1).isCertain()).isFalse();
    assertThat(ofRounds(3, 2, 2.1, 1.9).isCertain()).isFalse();
    assertThat(ofRounds(3, 2, 2.1, 2.0).isCertain()).isTrue();
    assertThat(ofRounds(4, 2, 2.1, 2.0).isCertain()).isFalse();
    // This bar is below its limit after three rounds, so it gets additional rounds. All rounds
    // count.
    assertThat(ofRounds(3, 2, 1.9, 1.9).isCertain()).isFalse();
  }

  @Test
  void reportsOnlyDifferentParameters() {
    assertThat(verdict(2, 1.25).complaint())
        .isEqualTo(
            "thing: t.T.run[kind=new] is 1.25 times as fast as t.T.run[kind=old]; at least 2.00"
                + " times is required");
  }
}
