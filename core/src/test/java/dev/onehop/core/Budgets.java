package dev.onehop.core;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Counts the code of each module, and compares it with the limits in {@code budgets.csv}. The
 * command {@code java core/src/test/java/dev/onehop/core/Budgets.java} prints the current figures
 * in the format of {@code budgets.csv}.
 */
final class Budgets {
  static final String HEADER = "module,code lines,public types";
  private static final Pattern MODULE = Pattern.compile("<module>(.+?)</module>");
  private static final Pattern PUBLIC_TYPE =
      Pattern.compile("^public .*\\b(class|interface|enum|record)\\b", Pattern.MULTILINE);

  /**
   * The number of lines of main code without blank lines and comments, and the number of files with
   * a public type.
   */
  record Figures(int lines, int types) {}

  private Budgets() {}

  public static void main(String[] args) throws IOException {
    System.out.println(HEADER);
    today(Path.of(""))
        .forEach((module, has) -> System.out.println(module + "," + has.lines + "," + has.types));
  }

  /** The modules of the POM that have main code. */
  static Map<String, Figures> today(Path root) throws IOException {
    Map<String, Figures> today = new TreeMap<>();
    String pom = Files.readString(root.resolve("pom.xml"));
    for (String module : MODULE.matcher(pom).results().map(found -> found.group(1)).toList()) {
      Path main = root.resolve(module).resolve("src/main");
      if (Files.isDirectory(main)) {
        today.put(module, figures(main));
      }
    }
    return today;
  }

  private static Figures figures(Path main) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(main)) {
      files = all.filter(file -> file.toString().endsWith(".java")).toList();
    }
    int lines = 0;
    int types = 0;
    for (Path file : files) {
      String source = Files.readString(file);
      lines += lines(source);
      types += hasPublicType(source) ? 1 : 0;
    }
    return new Figures(lines, types);
  }

  static int lines(String source) {
    int lines = 0;
    boolean inComment = false;
    for (String line : source.lines().map(String::strip).toList()) {
      if (inComment || line.startsWith("/*")) {
        inComment = !line.contains("*/");
      } else if (!line.isEmpty() && !line.startsWith("//")) {
        lines++;
      }
    }
    return lines;
  }

  static boolean hasPublicType(String source) {
    return PUBLIC_TYPE.matcher(source).find();
  }

  static Map<String, Figures> parse(List<String> csv) {
    Map<String, Figures> budgets = new TreeMap<>();
    for (String line : csv.subList(1, csv.size())) {
      String[] fields = line.split(",", -1);
      budgets.put(fields[0], new Figures(Integer.parseInt(fields[1]), Integer.parseInt(fields[2])));
    }
    return budgets;
  }

  /** One sentence for each figure above its budget. */
  static List<String> exceeded(Map<String, Figures> today, Map<String, Figures> budgets) {
    List<String> exceeded = new ArrayList<>();
    today.forEach(
        (module, has) -> {
          Figures may = budgets.get(module);
          if (may == null) {
            exceeded.add(
                "Module %s has no budget: add the line %s,%d,%d to budgets.csv."
                    .formatted(module, module, has.lines, has.types));
            return;
          }
          check(exceeded, module, "lines of code", has.lines, may.lines);
          check(exceeded, module, "public types", has.types, may.types);
        });
    return exceeded;
  }

  private static void check(
      List<String> exceeded, String module, String what, int has, int budget) {
    if (has > budget) {
      exceeded.add(
          ("Module %s has %d %s, its budget is %d: remove some, or raise the budget in budgets.csv"
                  + " and say why in the commit.")
              .formatted(module, has, what, budget));
    }
  }
}
