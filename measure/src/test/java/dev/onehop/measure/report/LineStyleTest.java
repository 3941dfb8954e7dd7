package dev.onehop.measure.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.results.Client;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LineStyleTest {

  @Test
  void everyModeHasDistinctStyle() {
    List<String> modes =
        List.of(
            "legacy",
            "async",
            "targeted-async",
            "targeted-sync",
            "direct-async",
            "direct-sync",
            "near-mongos",
            "local-threshold-0",
            "pipelined-only",
            "straight-async");
    assertThat(modes.stream().map(mode -> LineStyle.of(mode).cssClass())).doesNotHaveDuplicates();
    assertThat(Stream.of("any", "other").map(mode -> LineStyle.of(mode).look()))
        .doesNotHaveDuplicates();
  }

  @Test
  void marksOtherPoolAndPipelining() {
    LineStyle usual = LineStyle.of(new Client("async", 5, false), 5);
    LineStyle other = LineStyle.of(new Client("async", 100, true), 5);
    assertThat(usual.cssClass()).isEqualTo("series c1");
    assertThat(usual.name()).isEqualTo("async");
    assertThat(other.cssClass()).isEqualTo("series c1 alt piped");
    assertThat(other.name()).isEqualTo("async (pipelined), 100 connections");
    assertThat(other.marker()).isEqualTo(usual.marker());
  }
}
