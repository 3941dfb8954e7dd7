package dev.onehop.cli;

import dev.onehop.measure.Build;
import picocli.CommandLine.IVersionProvider;

/** OneHop's version, as the build wrote it down. */
public final class Version implements IVersionProvider {

  /** Picocli makes one. */
  Version() {}

  @Override
  public String[] getVersion() {
    return new String[] {
      "onehop " + Build.version(),
      "Java " + System.getProperty("java.version") + " (" + System.getProperty("java.vendor") + ")"
    };
  }
}
