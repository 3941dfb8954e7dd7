package dev.onehop.cli;

import dev.onehop.measure.Build;
import picocli.CommandLine.IVersionProvider;

/** OneHop's version, as recorded by the build. */
public final class Version implements IVersionProvider {

  /** Created by picocli. */
  Version() {}

  @Override
  public String[] getVersion() {
    return new String[] {
      "onehop " + Build.version(),
      "Java " + System.getProperty("java.version") + " (" + System.getProperty("java.vendor") + ")"
    };
  }
}
