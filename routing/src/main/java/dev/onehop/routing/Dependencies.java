package dev.onehop.routing;

import dev.onehop.wire.Artifact;
import java.lang.module.ModuleDescriptor.Version;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The libraries that the application chooses, and the versions of them that OneHop works with. */
final class Dependencies {
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
   * An artifact that OneHop needs.
   *
   * @param bom gives all artifacts of its family one version
   * @param type a class of it
   * @param oldest the oldest version
   */
  private record Needed(String bom, String id, String type, String oldest) {}

  /**
   * Checks the class path of this library, which stays the same: once is enough.
   *
   * @throws IllegalStateException if a library is absent, too old, or of two versions; the message
   *     names both and the remedy
   */
  static void check() {
    if (!checked) {
      check(Dependencies.class.getClassLoader());
      checked = true;
    }
  }

  /** Checks what a loader finds. */
  static void check(ClassLoader loader) {
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
    Artifact core = Artifact.driverCore(loader);
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
