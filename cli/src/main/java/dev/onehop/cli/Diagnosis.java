package dev.onehop.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Locale;

/**
 * The result of {@code onehop doctor}. Immutable.
 *
 * @param version the versions of this program and of Java
 * @param exitCode 0, 1 or 3, as in the command's help
 * @param modes the possible routing modes, and pipelining
 * @param findings the findings, in the order of the checks
 */
record Diagnosis(
    String version, int exitCode, String verdict, List<String> modes, List<Finding> findings) {
  /** The column at which the texts of the findings begin. */
  private static final int INDENT = 22;

  /** The severity of a finding. */
  enum Level {
    OK,
    /** The checked feature is not possible, but routing does not need it. */
    NO,
    WARNING,
    PROBLEM
  }

  /**
   * The result of one check.
   *
   * @param advice the recommended action; empty for none
   * @param details lines with further facts, such as a line for each server
   */
  record Finding(String check, Level level, String text, String advice, List<String> details) {}

  /** The findings as text lines. */
  String toText(int width) {
    StringBuilder out = new StringBuilder();
    for (Finding each : findings) {
      out.append(String.format(Locale.ROOT, "%-9s%-13s", each.level, each.check));
      wrap(out, each.text, INDENT, width);
      String indent = " ".repeat(INDENT);
      each.details.forEach(line -> wrap(out.append(indent), "- " + line, INDENT + 2, width));
      if (!each.advice.isEmpty()) {
        wrap(out.append(indent), "> " + each.advice, INDENT + 2, width);
      }
    }
    return out.append('\n').append(verdict).toString();
  }

  /** Breaks lines only between words, so that names can be copied. */
  private static void wrap(StringBuilder out, String text, int indent, int width) {
    int column = INDENT;
    String space = "";
    for (String word : text.split(" ", -1)) {
      if (column + space.length() + word.length() > width && column > indent) {
        space = "\n" + " ".repeat(indent);
        column = indent - space.length();
      }
      out.append(space).append(word);
      column += space.length() + word.length();
      space = " ";
    }
    out.append('\n');
  }

  /** The diagnosis as JSON. */
  String toJson() {
    return new ObjectMapper().valueToTree(this).toPrettyString();
  }
}
