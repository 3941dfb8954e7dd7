package dev.onehop.cli;

import java.nio.file.Path;

/** The folder of OneHop's sources or distribution, set by the launcher. */
final class InstallationFolder {

  private InstallationFolder() {}

  static Path folder() {
    return Path.of(System.getProperty("onehop.home", "."));
  }

  /** The path of a file in the installation folder. */
  static Path path(String relative) {
    return folder().resolve(relative);
  }
}
