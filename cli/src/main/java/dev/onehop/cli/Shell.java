package dev.onehop.cli;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Quotes words for a POSIX shell. */
final class Shell {

  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

  private Shell() {}

  /** The quoted word, which a shell passes on unchanged. */
  static String quote(String word) {
    return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
  }

  /** The command line of {@code onehop} with these arguments. */
  static String commandLine(List<String> arguments) {
    return Stream.concat(Stream.of("bin/onehop"), arguments.stream().map(Shell::quote))
        .collect(Collectors.joining(" "));
  }
}
