package dev.onehop.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IDefaultValueProvider;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Of commands that measure something else than the distance: shards are near by default. */
final class NearByDefault implements IDefaultValueProvider {

  /** Only the picocli library makes one. */
  NearByDefault() {}

  @Override
  public @Nullable String defaultValue(ArgSpec argument) {
    return argument instanceof OptionSpec option && option.longestName().equals("--topology")
        ? "single-host"
        : null;
  }
}
