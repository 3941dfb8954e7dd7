package dev.onehop.cli;

import java.util.Objects;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;

/** The {@code onehop} command. */
@Command(
    name = "onehop",
    description = "Shard-aware routing for MongoDB: measure it, look into it.",
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
      "",
      "Examples:",
      "  onehop bench               what would shard-aware routing buy me?",
      "  onehop consume --quick     how fast and how late are change events, in order?",
      "  onehop copy --from ... --to ...",
      "                             copy a cluster while it lives",
      "  onehop doctor --url ...    can operations be routed on this cluster?",
      "  onehop propagate           how long does a write take to be seen elsewhere?",
      "  onehop verify --from ... --to ...",
      "                             do two clusters have the same in them?",
      "  onehop topology up         keep a cluster over three regions running",
      "  onehop COMMAND --help      all options of a command"
    })
public final class OneHopCommand extends Subcommand {

  @Option(
      names = "--debug",
      scope = ScopeType.INHERIT,
      description = "Show stack traces of errors (also: ONEHOP_DEBUG=1).")
  @SuppressWarnings("UnusedVariable") // Errors looks for it among arguments that may not parse.
  private boolean debug;

  /** Only the picocli library makes one. */
  OneHopCommand() {}

  /** Runs the command line and ends the JVM with its exit code. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  /** The command line, for running it inside another program, such as a test. */
  public static CommandLine commandLine() {
    Errors errors = new Errors();
    CommandLine commandLine = new CommandLine(new OneHopCommand());
    // JMH's options are JMH's to read.
    Objects.requireNonNull(commandLine.getSubcommands().get("jmh"))
        .setUnmatchedOptionsArePositionalParams(true);
    CommandLine completion = new CommandLine(new AutoComplete.GenerateCompletion());
    commandLine.addSubcommand(completion);
    completion
        .getCommandSpec()
        .usageMessage()
        .footer("", "Examples:", "  source <(onehop generate-completion)");
    commandLine
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
    return new RunLast().execute(parsed);
  }

  /** An option that stands before the command it is meant for would be ignored. */
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
                    "%s stands before %s, which does not read it; write it behind"
                        .formatted(option.longestName(), command.name()));
              });
      above = below;
    }
  }
}
