package dev.onehop.core.targeting;

import org.bson.BsonRegularExpression;

/** Finds the common prefix of all strings that a regular expression matches. */
final class RegexPrefix {
  private static final String META = "[](){}.*+?^$|";

  private RegexPrefix() {}

  /**
   * The longest text with which each matching string certainly begins; empty if there is none. Only
   * literal characters after a leading {@code ^} or {@code \A} count. The prefix is empty if the
   * expression has alternatives, or an option that changes the meaning of literal characters.
   */
  static String of(BsonRegularExpression regex) {
    String pattern = regex.getPattern();
    String options = regex.getOptions();
    boolean plainOptions = options.isEmpty() || options.equals("s");
    if (!plainOptions || pattern.indexOf('|') >= 0) {
      return "";
    }
    int i;
    if (pattern.startsWith("^")) {
      i = 1;
    } else if (pattern.startsWith("\\A")) {
      i = 2;
    } else {
      return "";
    }
    StringBuilder prefix = new StringBuilder();
    while (i < pattern.length()) {
      if (pattern.charAt(i) == '\\') {
        // A backslash makes punctuation literal; before a letter or digit it has another meaning.
        if (++i == pattern.length() || !isPunctuation(pattern.charAt(i))) {
          return prefix.toString();
        }
      } else if (META.indexOf(pattern.charAt(i)) >= 0) {
        return prefix.toString();
      }
      int c = pattern.codePointAt(i);
      i += Character.charCount(c);
      if (i < pattern.length() && "*+?{".indexOf(pattern.charAt(i)) >= 0) {
        return prefix.toString();
      }
      prefix.appendCodePoint(c);
    }
    return prefix.toString();
  }

  private static boolean isPunctuation(char c) {
    return c > ' ' && c < 0x7F && !Character.isLetterOrDigit(c);
  }
}
