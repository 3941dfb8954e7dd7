package dev.onehop.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Other defaults of common options, for commands that need them. A command that does not measure
 * round trips uses a topology on a single host. A command that examines servers has a short
 * timeout.
 */
final class OwnDefaults implements IDefaultValueProvider {

  /** Created by picocli. */
  OwnDefaults() {}

  @Override
  public @Nullable String defaultValue(ArgSpec argument) {
    return switch (argument instanceof OptionSpec option ? option.longestName() : "") {
      case "--topology" -> "single-host";
      case "--timeout" -> "10s";
      default -> null;
    };
  }
}
