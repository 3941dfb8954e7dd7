package dev.onehop.cli;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Stack;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Accepts earlier spellings of commands. In the past {@code bench} itself had all options. {@code
 * --scenario NAME}, {@code --rate R} and the options of points now select a subcommand, and {@code
 * --peer} is {@code --modes}. {@code copy --bench} is {@code bench copy}. {@code consume --drain}
 * is {@code consume --measure drain}.
 */
final class OldSpellings implements IParameterPreprocessor {

  private static final List<String> KINDS = List.of("--drain", "--live", "--idle-shard");

  @Override
  @SuppressWarnings("JdkObsolete") // picocli's signature
  public boolean preprocess(
      Stack<String> args, CommandSpec onehop, @Nullable ArgSpec arg, Map<String, Object> info) {
    Collections.reverse(args); // the first argument was on top of the stack
    int command = 0;
    while (command < args.size() && args.get(command).startsWith("-")) {
      command++;
    }
    if (command < args.size()) {
      List<String> rest = args.subList(command + 1, args.size());
      switch (args.get(command)) {
        case "bench" -> bench(rest, subcommand(onehop, "bench"));
        case "consume" -> consume(rest);
        case "copy" -> {
          if (rest.remove("--bench")) {
            args.add(command, "bench");
          }
        }
        default -> {}
      }
    }
    Collections.reverse(args);
    return false;
  }

  private static CommandSpec subcommand(CommandSpec command, String name) {
    return Objects.requireNonNull(command.subcommands().get(name)).getCommandSpec();
  }

  /** Replaces the flags that are now values of {@code --measure}. */
  private static void consume(List<String> rest) {
    rest.replaceAll(each -> KINDS.contains(each) ? "--measure=" + each.substring(2) : each);
  }

  /** Inserts a subcommand into the arguments of {@code bench}, if they belong to one. */
  private static void bench(List<String> rest, CommandSpec bench) {
    for (String peer = take(rest, "--peer"); peer != null; peer = take(rest, "--peer")) {
      rest.add("--modes=" + peer);
    }
    String first = rest.isEmpty() ? "" : rest.get(0);
    if (first.equals("consume")) {
      consume(rest);
    }
    if (bench.subcommands().containsKey(first)) {
      return;
    }
    String scenario = take(rest, "--scenario");
    String rate = scenario == null ? take(rest, "--rate") : null;
    if (rate != null) {
      rest.addAll(0, List.of("rate", rate));
    } else if ("limit".equals(scenario)) {
      boolean hasThreads = rest.stream().anyMatch(each -> name(each).equals("--threads"));
      rest.addAll(0, hasThreads ? List.of("points") : List.of("points", "--threads=1,4,16,64"));
    } else if (scenario != null) {
      rest.addAll(0, scenario.equals("zones") ? List.of("zones") : List.of("scenario", scenario));
    } else if (rest.stream().anyMatch(each -> isOnlyOfPoints(name(each), bench))) {
      rest.add(0, "points");
    }
  }

  private static boolean isOnlyOfPoints(String option, CommandSpec bench) {
    return !bench.optionsMap().containsKey(option)
        && subcommand(bench, "points").optionsMap().containsKey(option);
  }

  /** The option in an argument such as {@code --threads=4} or {@code -pkey=value}. */
  private static String name(String argument) {
    return argument.replaceFirst("^(-p|--[^=]*).*", "$1");
  }

  /** Removes an option and returns its value; null if it is missing. */
  private static @Nullable String take(List<String> arguments, String option) {
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      if (argument.startsWith(option + "=")) {
        arguments.remove(i);
        return argument.substring(option.length() + 1);
      }
      if (argument.equals(option) && i + 1 < arguments.size()) {
        arguments.remove(i);
        return arguments.remove(i);
      }
    }
    return null;
  }
}
