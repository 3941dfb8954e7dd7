package dev.onehop.resync;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class TerminalTest {

  @Test
  void noColorDisablesOnlyColours() {
    assertThat(Terminal.of(true, 100, Map.of("TERM", "xterm")))
        .isEqualTo(new Terminal(true, 100, true));
    assertThat(Terminal.of(true, 100, Map.of("TERM", "xterm", "NO_COLOR", "1")))
        .isEqualTo(new Terminal(true, 100, false));
    assertThat(Terminal.of(true, 100, Map.of("TERM", "xterm", "NO_COLOR", "")).colour()).isTrue();
  }

  @Test
  void dumbTerminalAndPipeAreNotInteractive() {
    assertThat(Terminal.of(true, 80, Map.of("TERM", "dumb")).interactive()).isFalse();
    assertThat(Terminal.of(false, 80, Map.of("TERM", "xterm")).interactive()).isFalse();
  }

  @Test
  void replacesInvalidWidth() {
    assertThat(Terminal.of(true, 0, Map.of("TERM", "xterm")).columns()).isEqualTo(80);
  }
}
