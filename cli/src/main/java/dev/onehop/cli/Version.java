package dev.onehop.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** OneHop's version, as the build wrote it down. */
public final class Version implements IVersionProvider {

  /** Picocli makes one. */
  Version() {}

  @Override
  public String[] getVersion() {
    return new String[] {
      "onehop " + number(),
      "Java " + System.getProperty("java.version") + " (" + System.getProperty("java.vendor") + ")"
    };
  }

  /** The version's number, such as {@code 0.1.0}. */
  public static String number() {
    return built("version");
  }

  /** What the build wrote down: {@code version}, {@code mongodb}, {@code ycsb}. */
  public static String built(String name) {
    Properties properties = new Properties();
    try (InputStream in = Version.class.getResourceAsStream("build.properties")) {
      if (in == null) {
        throw new IllegalStateException("build.properties is missing from the class path");
      }
      properties.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty(name, "unknown");
  }
}
