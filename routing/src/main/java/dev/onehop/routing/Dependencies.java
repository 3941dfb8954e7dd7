package dev.onehop.routing;

import dev.onehop.wire.Artifact;
import java.lang.module.ModuleDescriptor.Version;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Checks the versions of OneHop's modules, and of the libraries that the application provides, on
 * the class path.
 */
final class Dependencies {
  /** The artifacts of OneHop that an application can have on its class path. */
  static final List<String> MODULES =
      Stream.of(
              "core wire shards routing streams copy resync testbed measure cli ycsb-binding",
              "auth flink spring-boot-starter")
          .flatMap(names -> Stream.of(names.split(" ")))
          .map(name -> "onehop-" + name)
          .toList();

  private static final Pattern LINE = Pattern.compile("[0-9]+\\.[0-9]+");

  private static final String DRIVER_BOM = "mongodb-driver-bom";

  private static final List<Needed> NEEDED =
      List.of(
          new Needed(DRIVER_BOM, "mongodb-driver-core", "com.mongodb.MongoClientSettings", "5.5"),
          new Needed("netty-bom", "netty-common", "io.netty.util.Version", "4.1"),
          new Needed("netty-bom", "netty-buffer", "io.netty.buffer.ByteBuf", "4.1"),
          new Needed("netty-bom", "netty-transport", "io.netty.channel.Channel", "4.1"),
          new Needed("netty-bom", "netty-handler", "io.netty.handler.ssl.SslHandler", "4.1"),
          new Needed("reactor-bom", "reactor-core", "reactor.core.publisher.Mono", "3.6"),
          new Needed(
              "micrometer-bom",
              "micrometer-core",
              "io.micrometer.core.instrument.MeterRegistry",
              "1.14"));

  private static volatile boolean checked;

  private Dependencies() {}

  /**
   * A library that OneHop needs.
   *
   * @param bom the BOM that gives all artifacts of the library's family one version
   * @param id the artifact id of the library
   * @param type the name of a class that the library contains
   * @param oldest the oldest version that OneHop works with
   */
  private record Needed(String bom, String id, String type, String oldest) {}

  /**
   * Checks the class path that this class was loaded from. After a success, later calls do nothing,
   * because the class path does not change.
   *
   * @throws IllegalStateException if a library is missing or too old, or if the class path has two
   *     versions of a library or of OneHop; the message names the libraries
   */
  static void check() {
    if (!checked) {
      checkModules(Dependencies.class.getClassLoader());
      checkLibraries(Dependencies.class.getClassLoader());
      checked = true;
    }
  }

  /**
   * Checks that all OneHop modules that a loader finds have the same version. Folders of classes
   * have no version and are ignored.
   */
  static void checkModules(ClassLoader loader) {
    SortedMap<String, SortedSet<String>> modules = new TreeMap<>();
    for (String module : MODULES) {
      for (String version : Artifact.versions("dev.onehop", module, loader)) {
        modules.computeIfAbsent(version, any -> new TreeSet<>()).add(module);
      }
    }
    if (modules.size() > 1) {
      throw new IllegalStateException(
          "OneHop's modules on the class path have different versions: "
              + modules.entrySet().stream()
                  .map(each -> each.getKey() + " of " + String.join(", ", each.getValue()))
                  .collect(Collectors.joining("; "))
              + "; import onehop-bom to have one version");
    }
  }

  /** Checks the libraries that a loader finds. */
  static void checkLibraries(ClassLoader loader) {
    Map<String, Artifact> families = new HashMap<>();
    for (Needed needed : NEEDED) {
      Artifact found = Artifact.of(needed.id(), needed.type(), loader);
      if (!found.isPresent()) {
        throw new IllegalStateException(
            "OneHop needs %s %s or newer, and the class path has none"
                .formatted(needed.id(), needed.oldest()));
      }
      if (found.version() != null
          && Version.parse(found.version()).compareTo(Version.parse(needed.oldest())) < 0) {
        throw new IllegalStateException(
            "OneHop needs %s %s or newer, and the class path has %s: import a newer %s"
                .formatted(needed.id(), needed.oldest(), found.version(), needed.bom()));
      }
      Artifact first = families.putIfAbsent(needed.bom(), found);
      if (first != null && !line(first).equals(line(found))) {
        throw mixed(first, found, needed.bom());
      }
    }
    List<Artifact> clients =
        Artifact.CLIENTS.entrySet().stream()
            .map(client -> Artifact.of(client.getKey(), client.getValue(), loader))
            .filter(Artifact::isPresent)
            .toList();
    if (clients.isEmpty()) {
      throw new IllegalStateException(
          "OneHop needs a client of the MongoDB driver, and the class path has none: add one of "
              + String.join(", ", Artifact.CLIENTS.keySet()));
    }
    Artifact core = Objects.requireNonNull(families.get(DRIVER_BOM));
    if (clients.stream().noneMatch(core::fits)) {
      throw mixed(core, clients.get(0), DRIVER_BOM);
    }
  }

  private static String line(Artifact artifact) {
    Matcher numbers = LINE.matcher(String.valueOf(artifact.version()));
    return numbers.lookingAt() ? numbers.group() : "";
  }

  private static IllegalStateException mixed(Artifact one, Artifact other, String bom) {
    return new IllegalStateException(
        "%s does not fit %s on the class path: import %s to have one version"
            .formatted(one, other, bom));
  }
}
