package dev.onehop.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** Writes a manual page for each command, from the help, for the distribution. */
public final class ManPages {

  private ManPages() {}

  /** Writes the pages into the folder of the first argument. */
  public static void main(String[] args) throws IOException {
    write(OneHopCommand.commandLine(), Files.createDirectories(Path.of(args[0])));
  }

  private static void write(CommandLine command, Path folder) throws IOException {
    String name = command.getCommandSpec().qualifiedName("-");
    Files.writeString(folder.resolve(name + ".1"), page(command, name));
    for (CommandLine sub : command.getSubcommands().values()) {
      write(sub, folder);
    }
  }

  /** A page in the format of man(7). */
  static String page(CommandLine command, String name) {
    UsageMessageSpec usage = command.getCommandSpec().usageMessage();
    StringBuilder page = new StringBuilder();
    page.append(".TH ").append(name.toUpperCase(Locale.ROOT)).append(" 1\n.SH NAME\n");
    String[] header = usage.header().length > 0 ? usage.header() : usage.description();
    page.append(name).append(" \\- ").append(text(header)).append('\n');
    page.append(".SH SYNOPSIS\n.nf\n");
    page.append(escaped(command.getHelp().synopsis(0).strip())).append("\n.fi\n");
    if (usage.header().length > 0 && usage.description().length > 0) {
      page.append(".SH DESCRIPTION\n").append(text(usage.description())).append('\n');
    }
    List<PositionalParamSpec> parameters =
        command.getCommandSpec().positionalParameters().stream()
            .filter(parameter -> !parameter.hidden())
            .toList();
    if (!parameters.isEmpty()) {
      page.append(".SH PARAMETERS\n");
    }
    parameters.forEach(each -> item(page, each.paramLabel(), each.description()));
    HelpLayout.groups(command.getCommandSpec())
        .forEach(
            (group, options) -> {
              page.append(".SH ").append(group.toUpperCase(Locale.ROOT)).append('\n');
              options.forEach(each -> item(page, names(each), each.description()));
            });
    if (usage.footer().length > 0) {
      page.append(".SH NOTES\n.nf\n");
      page.append(escaped(String.join("\n", usage.footer()))).append("\n.fi\n");
    }
    return page.toString();
  }

  private static String names(OptionSpec option) {
    String label = option.arity().max() > 0 ? " " + option.paramLabel() : "";
    return String.join(", ", option.names()) + label;
  }

  private static void item(StringBuilder page, String what, String... description) {
    page.append(".TP\n.B ").append(escaped(what)).append('\n');
    page.append(text(description)).append('\n');
  }

  private static String text(String... paragraphs) {
    return escaped(String.join(" ", paragraphs).replace("%n", "\n").replace("%%", "%").strip());
  }

  /** Escapes characters that have a meaning in man(7). */
  private static String escaped(String text) {
    return text.replace("\\", "\\e").replace("-", "\\-").replaceAll("(?m)^([.'])", "\\\\&$1");
  }
}
