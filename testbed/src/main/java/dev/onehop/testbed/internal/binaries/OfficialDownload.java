package dev.onehop.testbed.internal.binaries;

import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** placeholder */
final class OfficialDownload {
  private final Path cache;

  OfficialDownload(Path cache) {
    this.cache = cache;
  }

  Path folder() {
    return cache.resolve("official");
  }

  @Nullable String fetch(Consumer<String> progress) {
    return "not tried";
  }
}
