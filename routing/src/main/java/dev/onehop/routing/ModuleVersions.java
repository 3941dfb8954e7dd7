package dev.onehop.routing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The versions of OneHop's modules on the class path, from the descriptors in their jars. */
final class ModuleVersions {
  private static final List<String> MODULES =
      List.of("core", "wire", "shards", "routing", "streams", "copy", "testbed", "ycsb-binding");

  private static volatile boolean checked;

  private ModuleVersions() {}

  /**
   * Checks the class path of this library, which stays the same: once is enough.
   *
   * @throws IllegalStateException if it has modules of different versions
   */
  static void check() {
    if (!checked) {
      check(ModuleVersions.class.getClassLoader());
      checked = true;
    }
  }

  /**
   * Checks that all modules whose version is known have the same one. Folders of classes have none.
   *
   * @throws IllegalStateException if they don't
   */
  static void check(ClassLoader loader) {
    SortedMap<String, SortedSet<String>> found = new TreeMap<>();
    for (String module : MODULES) {
      for (String version : versions(loader, "onehop-" + module)) {
        found.computeIfAbsent(version, any -> new TreeSet<>()).add("onehop-" + module);
      }
    }
    if (found.size() > 1) {
      throw new IllegalStateException(
          "OneHop's modules on the class path have different versions: "
              + found.entrySet().stream()
                  .map(ModuleVersions::described)
                  .collect(Collectors.joining("; "))
              + "; import onehop-bom to have one");
    }
  }

  private static String described(Map.Entry<String, SortedSet<String>> version) {
    return version.getKey() + " of " + String.join(", ", version.getValue());
  }

  private static SortedSet<String> versions(ClassLoader loader, String artifact) {
    SortedSet<String> versions = new TreeSet<>();
    try {
      for (URL url :
          Collections.list(
              loader.getResources("META-INF/maven/dev.onehop/" + artifact + "/pom.properties"))) {
        Properties descriptor = new Properties();
        try (InputStream in = url.openStream()) {
          descriptor.load(in);
        }
        versions.add(descriptor.getProperty("version", "unknown"));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return versions;
  }
}
