package dev.onehop.cli;

import java.nio.file.Path;

/** The folder that OneHop runs from: the sources' or a distribution's, as the launcher says. */
final class Home {

  private Home() {}

  static Path folder() {
    return Path.of(System.getProperty("onehop.home", "."));
  }

  /** A file under it. */
  static Path path(String relative) {
    return folder().resolve(relative);
  }
}
