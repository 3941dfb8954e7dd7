package dev.onehop.cli;

import java.util.regex.Pattern;

/** Quotes words for a POSIX shell. */
final class Shell {

  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

  private Shell() {}

  /** The word as it is typed to arrive unchanged. */
  static String quote(String word) {
    return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
