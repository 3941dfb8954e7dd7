package dev.onehop.core;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Counts unclear phrases and long sentences of the documentation and of the help, and compares them
 * with the limits in {@code prose.csv}. Run from the project's folder:
 *
 * <ul>
 *   <li>{@code java core/src/test/java/dev/onehop/core/Prose.java} prints the current figures in
 *       the format of {@code prose.csv}.
 *   <li>{@code java .../Prose.java --findings docs/copy.md} prints each finding of a file; {@code
 *       --findings help} prints the findings of the help.
 *   <li>{@code java .../Prose.java --summary} prints the counts of each phrase and the words per
 *       sentence of each file, and the same figures of the comments of main code, which have no
 *       limit.
 * </ul>
 */
final class Prose {
  static final String HEADER = "file,phrases,long sentences,passive chains";
  static final int MOST_WORDS = 25;

  /** The name of the row of {@code prose.csv} for the help of all commands together. */
  static final String HELP = "help";

  private static final int MOST_PASSIVES = 2;
  private static final Set<String> NOT_PROSE = Set.of("CHANGELOG.md", "CODE_OF_CONDUCT.md");

  /** The phrases to avoid. docs/glossary.md has the words to use. */
  private static final Map<String, Pattern> PHRASES =
      Map.of(
          "nobody, whoever, somebody", phrase("nobody|whoever|whomever|whosever|somebody"),
          "tell, hear, believe", phrase("tells?|told|hears?|heard|believes?|believed"),
          "what is, what it (no question)", phrase("what (?:is|was|are|were|it|they|needs|else)"),
          "that of, those of", phrase("(?:that|those) of"),
          "stands, goes on, comes to", phrase("stands|(?:goes|go|going|tries|tried) on"),
          "of its own, of ours", phrase("of (?:its|their|our|his) own|of ours"),
          "in vain, at hand, passed over", phrase("in vain|at hand|passed over|let in"),
          "beside, meanwhile", phrase("beside|meanwhile"),
          "all else", phrase("all else|all of it|for good"));

  private static final Pattern PASSIVE =
      Pattern.compile(
          "\\b(?:is|are|was|were|be|been|being) (?:not |no longer |only |also )?"
              + "(?:\\w+ed|known|sent|made|taken|given|read|written|done|kept|held|set|put|found)\\b",
          Pattern.CASE_INSENSITIVE);
  private static final Pattern ANNOTATION =
      Pattern.compile("@(?:Command|Option|Parameters|ArgGroup)\\(");
  private static final Pattern STRING =
      Pattern.compile("\"\"\"(.*?)\"\"\"|\"((?:\\\\.|[^\"\\\\\n])*)\"", Pattern.DOTALL);
  private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\n]*", Pattern.DOTALL);

  /** Counts of one file. */
  record Figures(int phrases, int longSentences, int passiveChains) {
    static final Figures NONE = new Figures(0, 0, 0);

    boolean isAbove(Figures budget) {
      return phrases > budget.phrases
          || longSentences > budget.longSentences
          || passiveChains > budget.passiveChains;
    }
  }

  /** A text that should be written more plainly. */
  record Finding(Kind kind, String what, String sentence) {
    @Override
    public String toString() {
      return what + ": " + sentence;
    }
  }

  enum Kind {
    PHRASE,
    LONG,
    PASSIVES
  }

  private Prose() {}

  private static Pattern phrase(String regex) {
    return Pattern.compile("\\b(?:" + regex + ")\\b", Pattern.CASE_INSENSITIVE);
  }

  public static void main(String[] args) throws IOException {
    Path root = Path.of("");
    if (args.length == 2 && args[0].equals("--findings")) {
      findings(sentences(root, args[1])).forEach(System.out::println);
    } else if (args.length == 1 && args[0].equals("--summary")) {
      summary(root);
    } else {
      System.out.println(HEADER);
      today(root)
          .forEach(
              (file, has) -> {
                if (!has.equals(Figures.NONE)) {
                  System.out.printf(
                      "%s,%d,%d,%d%n", file, has.phrases, has.longSentences, has.passiveChains);
                }
              });
    }
  }

  /** The current figures of all limited files and of the help. */
  static Map<String, Figures> today(Path root) throws IOException {
    Map<String, Figures> today = new TreeMap<>();
    for (String file : files(root)) {
      today.put(file, figures(findings(sentences(root, file))));
    }
    return today;
  }

  private static List<String> files(Path root) throws IOException {
    List<String> files = new ArrayList<>(List.of(HELP));
    try (Stream<Path> all = Files.list(root.resolve("docs"))) {
      all.map(file -> "docs/" + file.getFileName()).forEach(files::add);
    }
    try (Stream<Path> all = Files.list(Path.of("").equals(root) ? Path.of(".") : root)) {
      all.map(file -> file.getFileName().toString()).forEach(files::add);
    }
    files.removeIf(
        file -> !file.equals(HELP) && (!file.endsWith(".md") || NOT_PROSE.contains(file)));
    return files;
  }

  private static List<String> sentences(Path root, String file) throws IOException {
    return file.equals(HELP)
        ? helpSentences(javaSources(root.resolve("cli/src/main")))
        : markdownSentences(Files.readString(root.resolve(file)));
  }

  private static String javaSources(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      StringBuilder sources = new StringBuilder();
      for (Path file : all.filter(each -> each.toString().endsWith(".java")).sorted().toList()) {
        sources.append(Files.readString(file));
      }
      return sources.toString();
    }
  }

  static Figures figures(List<Finding> findings) {
    return new Figures(
        count(findings, Kind.PHRASE), count(findings, Kind.LONG), count(findings, Kind.PASSIVES));
  }

  private static int count(List<Finding> findings, Kind kind) {
    return (int) findings.stream().filter(each -> each.kind == kind).count();
  }

  static List<Finding> findings(List<String> sentences) {
    List<Finding> findings = new ArrayList<>();
    for (String sentence : sentences) {
      int words = words(sentence);
      if (words > MOST_WORDS) {
        findings.add(new Finding(Kind.LONG, words + " words", sentence));
      }
      long passives = PASSIVE.matcher(sentence).results().count();
      if (passives > MOST_PASSIVES) {
        findings.add(new Finding(Kind.PASSIVES, passives + " passives", sentence));
      }
      PHRASES.forEach(
          (name, pattern) -> {
            if (!name.contains("(no question)") || !sentence.endsWith("?")) {
              for (MatchResult found : pattern.matcher(sentence).results().toList()) {
                findings.add(new Finding(Kind.PHRASE, "\"" + found.group() + "\"", sentence));
              }
            }
          });
    }
    return findings;
  }

  static int words(String sentence) {
    return (int)
        Arrays.stream(sentence.split("\\s+"))
            .filter(word -> word.chars().anyMatch(Character::isLetterOrDigit))
            .count();
  }

  /**
   * The sentences of paragraphs, list items, headings and cells of tables, without code and
   * addresses of links.
   */
  static List<String> markdownSentences(String markdown) {
    StringBuilder text = new StringBuilder();
    boolean fenced = false;
    String before = "";
    for (String line : markdown.lines().toList()) {
      if (line.strip().startsWith("```")) {
        fenced = !fenced;
        line = "";
      } else if (fenced || (line.startsWith("    ") && before.isBlank())) {
        continue; // "before" stays blank, so the next indented line is left out, too
      } else if (line.startsWith("|")) {
        line = line.matches("[|:\\- ]+") ? "" : "\n\n" + line.replaceAll("(?<!\\\\)\\|", "\n\n");
      } else if (line.matches("#+ .*")) {
        line = "\n\n" + line.replaceFirst("#+ ", "") + "\n\n";
      } else if (line.matches("\\s*([-*]|[0-9]+\\.) .*")) {
        line = "\n\n" + line.strip().replaceFirst("^([-*]|[0-9]+\\.) ", "");
      }
      text.append(line).append("\n");
      before = line;
    }
    String plain =
        text.toString()
            .replaceAll("(?s)<!--.*?-->", "")
            .replaceAll("(?s)<[a-z/][^>]*>", "")
            .replaceAll("!\\[[^\\]]*\\]\\([^)]*\\)", "")
            .replaceAll("`[^`]+`", "CODE")
            .replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
            .replaceAll("\\*\\*|__", "");
    return split(plain);
  }

  /** The strings in the annotations of picocli. */
  static List<String> helpSentences(String source) {
    StringBuilder text = new StringBuilder();
    // Without its strings, the source has the same length.
    String code = STRING.matcher(source).replaceAll(string -> "\"".repeat(string.group().length()));
    for (MatchResult found : ANNOTATION.matcher(code).results().toList()) {
      int depth = 1;
      int end = found.end();
      while (depth > 0 && end < code.length()) {
        char next = code.charAt(end++);
        depth += next == '(' ? 1 : next == ')' ? -1 : 0;
      }
      String annotation = source.substring(found.end(), end).replaceAll("\"\\s*\\+\\s*\"", "");
      STRING
          .matcher(annotation)
          .results()
          .map(each -> each.group(1) != null ? each.group(1) : each.group(2))
          .filter(each -> each.contains(" ") && !each.startsWith("  "))
          .forEach(each -> text.append(each.replace("%n", "\n\n")).append("\n\n"));
    }
    return split(text.toString());
  }

  /** The comments of Java sources. */
  private static List<String> commentSentences(String source) {
    return split(
        COMMENT
            .matcher(source)
            .results()
            .map(MatchResult::group)
            .map(each -> each.replaceAll("(?m)^\\s*(/\\*\\*?|\\*/?|//)|\\*/", ""))
            .map(each -> each.replaceAll("\\{@\\w+\\s+([^}]*)\\}", "CODE"))
            .map(each -> each.replaceAll("<p>|<li>|@param \\w+|@return|@throws \\w+", "\n\n"))
            .collect(Collectors.joining("\n\n")));
  }

  private static List<String> split(String text) {
    return Arrays.stream(text.split("\\n\\s*\\n"))
        .map(each -> each.replaceAll("\\s+", " ").strip())
        .flatMap(each -> Arrays.stream(each.split("(?<=[.?!])[\"')]? (?=[^a-z])")))
        .filter(each -> words(each) > 0)
        .toList();
  }

  static Map<String, Figures> parse(List<String> csv) {
    Map<String, Figures> budgets = new TreeMap<>();
    for (String line : csv.subList(1, csv.size())) {
      String[] fields = line.split(",", -1);
      budgets.put(
          fields[0],
          new Figures(
              Integer.parseInt(fields[1]),
              Integer.parseInt(fields[2]),
              Integer.parseInt(fields[3])));
    }
    return budgets;
  }

  /** One text for each file above its budget. The budget of a file without a row is zero. */
  static List<String> exceeded(Path root, Map<String, Figures> today, Map<String, Figures> budgets)
      throws IOException {
    List<String> exceeded = new ArrayList<>();
    for (Map.Entry<String, Figures> each : today.entrySet()) {
      Figures budget = budgets.getOrDefault(each.getKey(), Figures.NONE);
      if (each.getValue().isAbove(budget)) {
        exceeded.add(
            "%s has %s, its budget is %s. Write plainly (docs/glossary.md); all findings:%n  %s"
                .formatted(
                    each.getKey(),
                    each.getValue(),
                    budget,
                    findings(sentences(root, each.getKey())).stream()
                        .map(Finding::toString)
                        .collect(Collectors.joining("\n  "))));
      }
    }
    return exceeded;
  }

  private static void summary(Path root) throws IOException {
    Map<String, List<String>> texts = new TreeMap<>();
    for (String file : files(root)) {
      texts.put(file, sentences(root, file));
    }
    row("", "sentences", "words/sentence", "long", "passives", "phrases");
    texts.forEach(Prose::row);
    List<String> all = texts.values().stream().flatMap(List::stream).toList();
    row("all of these", all);
    StringBuilder sources = new StringBuilder();
    try (Stream<Path> folders = Files.walk(Path.of("."), 3)) {
      for (Path main : folders.filter(each -> each.endsWith("src/main")).sorted().toList()) {
        sources.append(javaSources(main));
      }
    }
    List<String> comments = commentSentences(sources.toString());
    row("comments of main code", comments);
    System.out.println();
    row("phrase", "pages, help", "comments");
    for (String name : new TreeMap<>(PHRASES).keySet()) {
      row(name, String.valueOf(count(name, all)), String.valueOf(count(name, comments)));
    }
  }

  private static long count(String name, List<String> sentences) {
    return sentences.stream()
        .filter(each -> !name.contains("(no question)") || !each.endsWith("?"))
        .mapToLong(each -> PHRASES.get(name).matcher(each).results().count())
        .sum();
  }

  private static void row(String name, List<String> sentences) {
    Figures has = figures(findings(sentences));
    int words = sentences.stream().mapToInt(Prose::words).sum();
    row(
        name,
        String.valueOf(sentences.size()),
        String.format("%.1f", words / (double) Math.max(1, sentences.size())),
        String.valueOf(has.longSentences),
        String.valueOf(has.passiveChains),
        String.valueOf(has.phrases));
  }

  private static void row(String first, String... others) {
    StringBuilder line = new StringBuilder(String.format("%-34s", first));
    for (String other : others) {
      line.append(String.format("%16s", other));
    }
    System.out.println(line);
  }
}
