package dev.onehop.measure;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** Facts that the build has recorded. */
public final class Build {
  private Build() {}

  /** OneHop's version, such as {@code 0.1.0}. */
  public static String version() {
    return property("version");
  }

  /** Returns a fact of the build by its name: {@code version}, {@code mongodb} or {@code ycsb}. */
  public static String property(String name) {
    Properties properties = new Properties();
    try (InputStream in = Build.class.getResourceAsStream("build.properties")) {
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
