package dev.onehop.cli;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Stack;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IParameterPreprocessor;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Accepts earlier spellings of {@code bench}. In the past {@code bench} itself had all options.
 * {@code --scenario NAME}, {@code --rate R} and the options of points now select a subcommand.
 */
final class OldSpellings implements IParameterPreprocessor {

  private static final String SCENARIO = "--scenario";
  private static final String RATE = "--rate";

  @Override
  @SuppressWarnings("JdkObsolete") // picocli's signature
  public boolean preprocess(
      Stack<String> args, CommandSpec command, @Nullable ArgSpec arg, Map<String, Object> info) {
    List<String> given = new ArrayList<>(args);
    Collections.reverse(given); // the first argument must be on top of the stack
    if (!given.isEmpty() && !command.subcommands().containsKey(given.get(0))) {
      List<String> today = today(given, command);
      Collections.reverse(today);
      args.clear();
      args.addAll(today);
    }
    return false;
  }

  private static List<String> today(List<String> given, CommandSpec command) {
    List<String> rest = new ArrayList<>(given);
    String scenario = take(rest, SCENARIO);
    if (scenario != null) {
      return switch (scenario) {
        case "zones" -> joined("zones", rest);
        case "limit" -> joined("points", limit(rest));
        default -> joined("scenario", joined(scenario, rest));
      };
    }
    String rate = take(rest, RATE);
    if (rate != null) {
      return joined("rate", joined(rate, rest));
    }
    CommandLine points = Objects.requireNonNull(command.subcommands().get("points"));
    boolean isOfPoints =
        rest.stream()
            .map(OldSpellings::name)
            .anyMatch(
                name ->
                    !command.optionsMap().containsKey(name)
                        && points.getCommandSpec().optionsMap().containsKey(name));
    return isOfPoints ? joined("points", rest) : rest;
  }

  private static List<String> limit(List<String> rest) {
    return rest.stream().map(OldSpellings::name).anyMatch("--threads"::equals)
        ? rest
        : joined("--threads=1,4,16,64", rest);
  }

  private static List<String> joined(String first, List<String> rest) {
    List<String> all = new ArrayList<>(rest);
    all.add(0, first);
    return all;
  }

  /** The option in an argument such as {@code --threads=4} or {@code -pkey=value}. */
  private static String name(String argument) {
    if (argument.startsWith("-p") && argument.length() > 2) {
      return "-p";
    }
    int equals = argument.indexOf('=');
    return equals < 0 ? argument : argument.substring(0, equals);
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
