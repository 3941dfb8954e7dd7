package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.jar.Attributes;
import java.util.jar.Manifest;
import org.jspecify.annotations.Nullable;

/**
 * The artifacts of the official driver that have clients. An application has one of them or both.
 */
public enum DriverArtifact {
  /** Also under the Kotlin coroutine and the Scala driver. */
  REACTIVE("mongodb-driver-reactivestreams", "com.mongodb.reactivestreams.client.MongoClients"),
  /** The synchronous driver. */
  SYNC("mongodb-driver-sync", "com.mongodb.client.MongoClients");

  private static final @Nullable String CORE = version(MongoClientSettings.class);

  private final String id;
  private final boolean present;
  private final @Nullable String version;

  DriverArtifact(String id, String entry) {
    this.id = id;
    Class<?> found = null;
    try {
      found = Class.forName(entry, false, DriverArtifact.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      // The application does without it.
    }
    this.present = found != null;
    this.version = found == null ? null : version(found);
  }

  /** The artifact's id. */
  public String id() {
    return id;
  }

  /** Whether it is on the class path. */
  public boolean isPresent() {
    return present;
  }

  /**
   * Whether it is on the class path, in the version of {@code mongodb-driver-core} if both are
   * known.
   */
  public boolean isUsable() {
    return present && (version == null || CORE == null || version.equals(CORE));
  }

  /** Its version; null if it is absent or its jar does not name it. */
  public @Nullable String version() {
    return version;
  }

  /** The version of {@code mongodb-driver-core}; null if its jar does not name it. */
  public static @Nullable String coreVersion() {
    return CORE;
  }

  /**
   * The version in the manifest of the jar that has a class.
   *
   * @return null if there is none, as in a jar of several artifacts
   */
  public static @Nullable String version(Class<?> type) {
    String resource = type.getName().replace('.', '/') + ".class";
    URL url = type.getClassLoader() == null ? null : type.getClassLoader().getResource(resource);
    if (url == null) {
      return null;
    }
    String manifest = url.toString().replace(resource, "META-INF/MANIFEST.MF");
    try (InputStream in = new URL(manifest).openStream()) {
      Attributes attributes = new Manifest(in).getMainAttributes();
      String build = attributes.getValue("Build-Version");
      return build == null ? attributes.getValue(Attributes.Name.IMPLEMENTATION_VERSION) : build;
    } catch (IOException e) {
      return null;
    }
  }
}
