package dev.onehop.cli;

import dev.onehop.resync.Interruption;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;

/** The {@code onehop} command. */
@Command(
    name = "onehop",
    preprocessor = OldSpellings.class,
    description = "Shard-aware routing for MongoDB: measurements and tools.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      BenchCommand.class,
      ConsumeCommand.class,
      CopyCommand.class,
      PropagateCommand.class,
      VerifyCommand.class,
      ReportCommand.class,
      TopologyCommand.class,
      DoctorCommand.class,
      ExplainCommand.class,
      ResyncCommand.class,
      JmhCommand.class
    },
    footer = {
      "Examples:",
      "  onehop bench               what is the effect of shard-aware routing?",
      "  onehop consume --quick     how fast can change events be read, and what is their lag?",
      "  onehop copy --from ... --to ...",
      "                             copy a cluster while it is in use",
      "  onehop doctor --url ...    can operations be routed on this cluster?",
      "  onehop propagate           how long until a write arrives at other applications?",
      "  onehop verify --from ... --to ...",
      "                             do two clusters have the same content?",
      "  onehop topology up         keep a cluster over three regions running",
      "  onehop COMMAND --help      all options of a command"
    })
public final class OneHopCommand extends Subcommand {

  @Option(
      names = "--debug",
      scope = ScopeType.INHERIT,
      description = "Show stack traces of errors (also: ONEHOP_DEBUG=1).")
  @SuppressWarnings("UnusedVariable") // Errors reads it, even from invalid arguments
  private boolean debug;

  /** Created by picocli. */
  OneHopCommand() {}

  /** Runs the command line and ends the JVM with its exit code. */
  public static void main(String[] args) {
    int exitCode = commandLine().execute(args);
    if (!Interruption.isStopping()) { // otherwise System.exit would wait for this thread
      System.exit(exitCode);
    }
  }

  /** The command line, for running it inside another program, such as a test. */
  public static CommandLine commandLine() {
    Errors errors = new Errors();
    CommandLine commandLine = new CommandLine(new OneHopCommand());
    // JMH parses its options itself, so they are passed on to it.
    Objects.requireNonNull(commandLine.getSubcommands().get("jmh"))
        .setUnmatchedOptionsArePositionalParams(true);
    CommandLine completion = new CommandLine(new AutoComplete.GenerateCompletion());
    commandLine.addSubcommand(completion);
    completion
        .getCommandSpec()
        .helpCommand(false) // because picocli ignores unknown arguments of help commands
        .usageMessage()
        .footer("Examples:", "  source <(onehop generate-completion)");
    commandLine
        .registerConverter(Duration.class, new DurationConverter())
        .setExecutionStrategy(OneHopCommand::execute)
        .setExecutionExceptionHandler(errors)
        .setParameterExceptionHandler(errors)
        .setAbbreviatedOptionsAllowed(false)
        .setOverwrittenOptionsAllowed(true)
        .setUsageHelpAutoWidth(true);
    HelpLayout.apply(commandLine);
    return commandLine;
  }

  private static int execute(ParseResult parsed) {
    refuseMisplaced(parsed);
    refuseDoubled(parsed);
    try {
      return new RunLast().execute(parsed);
    } finally {
      parsed.asCommandLineList().forEach(command -> command.getOut().flush());
    }
  }

  /** Refuses a list with repeated values, because a bench would measure each value only once. */
  private static void refuseDoubled(ParseResult parsed) {
    for (CommandLine command : parsed.asCommandLineList()) {
      for (ArgSpec argument : command.getParseResult().matchedArgs()) {
        if (argument.getValue() instanceof List<?> list && !argument.splitRegex().isEmpty()) {
          String name = argument instanceof OptionSpec o ? o.longestName() : argument.paramLabel();
          Set<Object> values = new HashSet<>();
          for (Object value : list) {
            if (!values.add(value)) {
              throw new ParameterException(command, name + " has " + value + " twice");
            }
          }
        }
      }
    }
  }

  /** Refuses an option that is written before its command, because the command would ignore it. */
  private static void refuseMisplaced(ParseResult parsed) {
    ParseResult above = parsed;
    while (above.hasSubcommand() && !above.isUsageHelpRequested()) {
      ParseResult below = above.subcommand();
      CommandSpec command = below.commandSpec();
      above.matchedOptions().stream()
          .filter(option -> !option.inherited() && option.scopeType() != ScopeType.INHERIT)
          .findFirst()
          .ifPresent(
              option -> {
                throw new ParameterException(
                    command.commandLine(),
                    "%s has no effect before the command %s; write it after the command"
                        .formatted(option.longestName(), command.name()));
              });
      above = below;
    }
  }
}
