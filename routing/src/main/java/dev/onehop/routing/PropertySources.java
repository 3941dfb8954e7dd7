package dev.onehop.routing;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;

/**
 * The values of settings from all sources: builder, URI, properties, system properties. Not
 * thread-safe.
 */
final class PropertySources {
  static final String PREFIX = "onehop.";

  private final Map<OneHopProperty, Object> called = new EnumMap<>(OneHopProperty.class);
  private final Map<OneHopProperty, String> uri;
  private final Properties system;
  private Properties properties = new Properties();

  /** A URI without OneHop's options, and these options. */
  record Parsed(String uri, Map<OneHopProperty, String> options) {}

  /**
   * @param uri OneHop's options in the URI
   * @param system the system properties, read when a value is needed
   */
  PropertySources(Map<OneHopProperty, String> uri, Properties system) {
    this.uri = uri;
    this.system = system;
  }

  /** Separates OneHop's options from a URI, because the driver would warn about them. */
  static Parsed parse(String uri) {
    int question = uri.indexOf('?');
    if (question < 0) {
      return new Parsed(uri, Map.of());
    }
    Map<OneHopProperty, String> ours = new HashMap<>();
    List<String> others = new ArrayList<>();
    for (String option : uri.substring(question + 1).split("[&;]", -1)) {
      if (!option.toLowerCase(Locale.ROOT).startsWith(PREFIX)) {
        others.add(option);
        continue;
      }
      int equals = option.indexOf('=');
      String name = equals < 0 ? option : option.substring(0, equals);
      ours.put(
          find(name, "the URI"),
          equals < 0
              ? ""
              : URLDecoder.decode(option.substring(equals + 1), StandardCharsets.UTF_8));
    }
    return new Parsed(uri.substring(0, question + 1) + String.join("&", others), ours);
  }

  /**
   * Stores a copy of properties.
   *
   * @throws IllegalArgumentException if a name has the prefix {@code onehop.} and is unknown
   */
  void properties(Properties given) {
    Properties copy = new Properties();
    for (String name : given.stringPropertyNames()) {
      if (name.startsWith(PREFIX)) {
        copy.put(find(name, "the properties").key(), given.getProperty(name));
      }
    }
    properties = copy;
  }

  /** Stores a value that was set by a call of the builder. */
  <T> void set(Setting<T> setting, T value) {
    called.put(setting.property(), value);
  }

  /**
   * Whether the builder, the URI or the properties contain a setting. System properties apply to
   * all clients of the JVM and therefore do not count.
   */
  boolean isGiven(Setting<?> setting) {
    return called.containsKey(setting.property())
        || uri.containsKey(setting.property())
        || properties.getProperty(setting.property().key()) != null;
  }

  /**
   * The value of a setting.
   *
   * @throws IllegalArgumentException if the value is invalid; the message names it
   */
  // The type matches, because only the method set writes to the map.
  @SuppressWarnings("unchecked")
  <T> T get(Setting<T> setting) {
    T value = (T) called.get(setting.property());
    return value == null ? written(setting) : value;
  }

  private <T> T written(Setting<T> setting) {
    String key = setting.property().key();
    String text = uri.get(setting.property());
    String where = "in the URI";
    if (text == null) {
      text = properties.getProperty(key);
      where = "in the properties";
    }
    if (text == null) {
      text = system.getProperty(key);
      where = "as a system property";
    }
    if (text == null) {
      return setting.standard();
    }
    try {
      return setting.parser().apply(text.trim());
    } catch (IllegalArgumentException | DateTimeParseException e) {
      throw new IllegalArgumentException(
          "%s=%s, set %s, must be %s".formatted(key, text, where, setting.expected()), e);
    }
  }

  /** Finds a property by its name; case does not matter. */
  private static OneHopProperty find(String name, String where) {
    return Arrays.stream(OneHopProperty.values())
        .filter(property -> property.key().equalsIgnoreCase(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "unknown option %s in %s; the options are %s"
                        .formatted(
                            name,
                            where,
                            Arrays.stream(OneHopProperty.values())
                                .map(OneHopProperty::key)
                                .collect(Collectors.joining(", ")))));
  }
}
