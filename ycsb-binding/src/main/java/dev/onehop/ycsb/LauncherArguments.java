package dev.onehop.ycsb;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import site.ycsb.Client;
import site.ycsb.workloads.CoreWorkload;

/**
 * A command line of YCSB. It is checked before YCSB runs, because YCSB exits with 0 after a wrong
 * command line, and prints a page of help.
 *
 * @param command the command
 * @param options YCSB's own options, unchanged
 * @param properties the resulting properties; single properties take precedence over files, and
 *     later files over earlier files
 */
record LauncherArguments(Command command, List<String> options, Properties properties) {

  /** YCSB's phases and its shell, with the option that selects the phase in {@link Client}. */
  enum Command {
    LOAD("-load"),
    RUN("-t"),
    SHELL(null);

    private final @Nullable String option;

    Command(@Nullable String option) {
      this.option = option;
    }
  }

  private static final Map<String, String> PROPERTY_OF_OPTION =
      Map.of(
          "-threads", Client.THREAD_COUNT_PROPERTY,
          "-target", Client.TARGET_PROPERTY,
          "-db", Client.DB_PROPERTY,
          "-l", Client.LABEL_PROPERTY,
          "-table", CoreWorkload.TABLENAME_PROPERTY);

  /**
   * Parses a command line: the command, then YCSB's options.
   *
   * @throws InvalidPropertyException if YCSB cannot run it
   */
  static LauncherArguments parse(List<String> line) {
    Command command = command(line.isEmpty() ? "" : line.get(0));
    List<String> options = List.copyOf(line.subList(1, line.size()));
    Properties properties = new Properties();
    Properties single = new Properties();
    Iterator<String> rest = options.iterator();
    while (rest.hasNext()) {
      String option = rest.next();
      if (option.equals("-s") || option.equals("-t") || option.equals("-load")) {
        continue;
      }
      if (!PROPERTY_OF_OPTION.containsKey(option) && !List.of("-P", "-p").contains(option)) {
        throw new InvalidPropertyException("unknown option " + option);
      }
      if (!rest.hasNext()) {
        throw new InvalidPropertyException(option + " needs a value");
      }
      String value = rest.next();
      switch (option) {
        case "-P" -> properties.putAll(load(Path.of(value)));
        case "-p" -> putProperty(single, value);
        default -> single.setProperty(PROPERTY_OF_OPTION.get(option), value);
      }
    }
    properties.putAll(single);
    LauncherArguments arguments = new LauncherArguments(command, options, properties);
    if (command != Command.SHELL) {
      arguments.checkWorkload();
    }
    return arguments;
  }

  /** Whether to show progress. */
  boolean showsStatus() {
    return options.contains("-s");
  }

  /** The arguments for YCSB's main class of this command. */
  String[] forYcsb() {
    List<String> all = new ArrayList<>(options);
    if (command.option == null) {
      // The shell does not call cleanup(), which sends the last batch. So there must be no batches.
      all.addAll(List.of("-p", BindingOptions.BATCH_SIZE + "=1"));
    } else {
      all.add(command.option);
    }
    return all.toArray(String[]::new);
  }

  private static Command command(String name) {
    return switch (name) {
      case "load" -> Command.LOAD;
      case "run" -> Command.RUN;
      case "shell" -> Command.SHELL;
      default ->
          throw new InvalidPropertyException(
              "unknown command \"%s\"; commands are load, run, shell".formatted(name));
    };
  }

  private static void putProperty(Properties properties, String assignment) {
    int equals = assignment.indexOf('=');
    if (equals < 1) {
      throw new InvalidPropertyException("-p takes name=value, not \"%s\"".formatted(assignment));
    }
    properties.setProperty(assignment.substring(0, equals), assignment.substring(equals + 1));
  }

  private static Properties load(Path file) {
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    } catch (IOException | IllegalArgumentException e) {
      throw new InvalidPropertyException("cannot read the properties file " + file, e);
    }
    return properties;
  }

  private void checkWorkload() {
    String workload = properties.getProperty(Client.WORKLOAD_PROPERTY);
    if (workload == null) {
      throw new InvalidPropertyException("no workload: give a workload file with -P");
    }
    try {
      Class.forName(workload, false, LauncherArguments.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new InvalidPropertyException("unknown workload class " + workload, e);
    }
    atLeast(Client.THREAD_COUNT_PROPERTY, "1", 1);
    atLeast(Client.TARGET_PROPERTY, "0", 0);
    atLeast(Client.MAX_EXECUTION_TIME, "0", 0);
    if (command == Command.RUN) {
      atLeast(Client.OPERATION_COUNT_PROPERTY, "0", 1);
    } else if (properties.containsKey(Client.INSERT_COUNT_PROPERTY)) {
      atLeast(Client.INSERT_COUNT_PROPERTY, "0", 1);
    } else {
      atLeast(Client.RECORD_COUNT_PROPERTY, "0", 1);
    }
  }

  private void atLeast(String name, String unsaid, int least) {
    String value = properties.getProperty(name, unsaid);
    try {
      if (Integer.parseInt(value) >= least) {
        return;
      }
    } catch (NumberFormatException e) {
      // Reported below, like a number that is too small.
    }
    throw new InvalidPropertyException(
        "%s must be a whole number from %d to %d, not \"%s\""
            .formatted(name, least, Integer.MAX_VALUE, value));
  }
}
