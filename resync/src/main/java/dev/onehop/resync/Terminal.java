package dev.onehop.resync;

import java.util.Map;

/**
 * The capabilities of standard error. Java cannot detect a terminal on standard error, so {@code
 * bin/onehop} detects it and sets system properties.
 *
 * @param interactive whether a line can be rewritten
 * @param columns the width in characters; without meaning if {@code interactive} is false
 * @param colour whether to use colours
 */
public record Terminal(boolean interactive, int columns, boolean colour) {

  private static final int DEFAULT_COLUMNS = 80;

  /** Reads the launcher's system properties. Without them the result is not interactive. */
  public static Terminal detect() {
    return of(
        Boolean.getBoolean("onehop.terminal"),
        Integer.getInteger("onehop.columns", DEFAULT_COLUMNS),
        System.getenv());
  }

  static Terminal of(boolean terminal, int columns, Map<String, String> environment) {
    boolean dumb = environment.getOrDefault("TERM", "dumb").equals("dumb");
    boolean interactive = terminal && !dumb;
    // https://no-color.org: any non-empty value switches colours off.
    boolean colour = interactive && environment.getOrDefault("NO_COLOR", "").isEmpty();
    return new Terminal(interactive, columns < 20 ? DEFAULT_COLUMNS : columns, colour);
  }
}
