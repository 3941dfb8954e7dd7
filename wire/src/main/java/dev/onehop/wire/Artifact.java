package dev.onehop.wire;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.Manifest;
import org.jspecify.annotations.Nullable;

/**
 * A library's artifact on the class path.
 *
 * @param id the artifact's id
 * @param isPresent whether it is on the class path
 * @param version the version in its jar's manifest; null if the artifact is absent or the manifest
 *     has none, as in a jar with several artifacts
 */
public record Artifact(String id, boolean isPresent, @Nullable String version) {
  private static final String REACTIVE_ID = "mongodb-driver-reactivestreams";
  private static final String REACTIVE_TYPE = "com.mongodb.reactivestreams.client.MongoClients";

  /**
   * The clients of the official driver: artifact id and class. An application has at least one of
   * them.
   */
  public static final SortedMap<String, String> CLIENTS =
      Collections.unmodifiableSortedMap(
          new TreeMap<>(
              Map.of(
                  "mongodb-driver-sync",
                  "com.mongodb.client.MongoClients",
                  REACTIVE_ID,
                  "com.mongodb.reactivestreams.client.MongoClients")));

  /**
   * Finds an artifact by one of its classes.
   *
   * @param className a class of the artifact; the class is not initialized
   */
  public static Artifact of(String id, String className, ClassLoader loader) {
    String resource = className.replace('.', '/') + ".class";
    URL url = loader.getResource(resource);
    return new Artifact(id, url != null, url == null ? null : version(id, url, resource));
  }

  private static @Nullable String version(String id, URL url, String resource) {
    try (InputStream manifest =
        new URL(url.toString().replace(resource, "META-INF/MANIFEST.MF")).openStream()) {
      Attributes attributes = new Manifest(manifest).getMainAttributes();
      String name = String.valueOf(attributes.getValue("Bundle-SymbolicName"));
      // The version in the manifest may be that of another artifact: a jar may contain the
      // application and its libraries. So the name must fit.
      return id.endsWith(name.substring(name.lastIndexOf('.') + 1))
          ? attributes.getValue("Bundle-Version")
          : null;
    } catch (IOException e) {
      return null;
    }
  }

  /** The versions of an artifact in Maven's descriptors on the class path. */
  public static Set<String> versions(String group, String id, ClassLoader loader) {
    Set<String> versions = new HashSet<>();
    try {
      String resource = "META-INF/maven/" + group + "/" + id + "/pom.properties";
      for (URL url : Collections.list(loader.getResources(resource))) {
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

  /** The driver's core, on which both clients depend. */
  public static Artifact driverCore(ClassLoader loader) {
    return of("mongodb-driver-core", "com.mongodb.MongoClientSettings", loader);
  }

  /** The reactive client, on which the Kotlin coroutine and the Scala driver depend. */
  public static Artifact reactiveClient(ClassLoader loader) {
    return of(REACTIVE_ID, REACTIVE_TYPE, loader);
  }

  /** Whether two artifacts have the same version; true if a version is unknown. */
  public boolean fits(Artifact other) {
    return version == null || other.version == null || version.equals(other.version);
  }

  @Override
  public String toString() {
    return version == null ? id : id + " " + version;
  }
}
