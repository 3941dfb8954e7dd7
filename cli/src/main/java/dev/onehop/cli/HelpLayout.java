package dev.onehop.cli;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * The help of all commands: first the examples, each on one line that can be pasted, then the
 * options in groups.
 */
final class HelpLayout {

  private static final String OWN = "Options";
  private static final String LAST = "Help";

  private HelpLayout() {}

  /** Sets the layout for a command and all of its subcommands. */
  static void apply(CommandLine command) {
    List<String> keys = new ArrayList<>(command.getHelpSectionKeys());
    keys.remove(UsageMessageSpec.SECTION_KEY_FOOTER);
    keys.add(
        keys.indexOf(UsageMessageSpec.SECTION_KEY_HEADER) + 1, UsageMessageSpec.SECTION_KEY_FOOTER);
    command.setHelpSectionKeys(keys);
    CommandSpec spec = command.getCommandSpec();
    UsageMessageSpec usage = spec.usageMessage().abbreviateSynopsis(true);
    if (usage.header().length > 0 && usage.description().length > 0) {
      usage.descriptionHeading("%n");
      usage.parameterListHeading(spec.positionalParameters().isEmpty() ? "" : "%n");
    }
    command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_FOOTER, HelpLayout::examples);
    command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, HelpLayout::options);
    command.getSubcommands().values().forEach(HelpLayout::apply);
  }

  /** The footer as written, without line breaks for the terminal's width, between empty lines. */
  private static String examples(Help help) {
    String[] lines = help.commandSpec().usageMessage().footer();
    return lines.length == 0 ? "" : "\n" + String.join("\n", lines) + "\n\n";
  }

  /** The visible options of a command, by group. */
  static Map<String, List<OptionSpec>> groups(CommandSpec command) {
    Map<String, List<OptionSpec>> groups = new LinkedHashMap<>();
    groups.put(OWN, new ArrayList<>());
    for (OptionSpec option : command.options()) {
      if (!option.hidden()) {
        groups.computeIfAbsent(group(option), name -> new ArrayList<>()).add(option);
      }
    }
    List<OptionSpec> last = groups.remove(LAST);
    if (last != null) {
      groups.put(LAST, last);
    }
    groups.values().removeIf(List::isEmpty);
    return groups;
  }

  private static String options(Help help) {
    CommandSpec command = help.commandSpec();
    StringBuilder text = new StringBuilder();
    groups(command)
        .forEach(
            (name, options) -> {
              // The columns get their width from all options of the command. So they have the same
              // width in each group.
              Help.Layout layout =
                  help.createDefaultLayout(
                      command.options(), command.positionalParameters(), help.colorScheme());
              layout.addOptions(options, help.parameterLabelRenderer());
              text.append('\n').append(name).append(":\n").append(layout);
            });
    return text.toString();
  }

  private static String group(OptionSpec option) {
    if (!(option.userObject() instanceof Field field)) {
      return OWN;
    }
    HelpGroup own = field.getAnnotation(HelpGroup.class);
    Class<?> owner = field.getDeclaringClass();
    HelpGroup ofClass = owner.getAnnotation(HelpGroup.class);
    if (own != null || ofClass != null) {
      return own == null ? ofClass.value() : own.value();
    }
    // Options that every command has, such as --help.
    return owner == OneHopCommand.class || owner.getName().startsWith("picocli.") ? LAST : OWN;
  }
}
