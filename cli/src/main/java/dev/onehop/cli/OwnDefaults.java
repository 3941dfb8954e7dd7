package dev.onehop.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Defaults of some commands for options that others have, too. What measures something else than
 * the distance has its shards near; what looks at servers does not wait long.
 */
final class OwnDefaults implements IDefaultValueProvider {

  /** Only the picocli library makes one. */
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
