package dev.onehop.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Defaults of some commands for common options. Commands that do not measure distances have near
 * shards; commands that examine servers wait only a short time.
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
