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

/** The values of settings, from wherever they are set. Not thread-safe. */
final class PropertySources {
  static final String PREFIX = "onehop.";

  private final Map<OneHopProperty, Object> called = new EnumMap<>(OneHopProperty.class);
  private final Map<OneHopProperty, String> uri;
  private final Properties system;
  private Properties properties = new Properties();

  /** A URI and what was among its options. */
  record Parsed(String uri, Map<OneHopProperty, String> options) {}

  /**
   * @param uri the options of the URI
   * @param system the system properties, which may still change
   */
  PropertySources(Map<OneHopProperty, String> uri, Properties system) {
    this.uri = uri;
    this.system = system;
  }

  /** Takes our own options out of a URI: the driver would warn of them. */
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
   * Takes a copy of properties.
   *
   * @throws IllegalArgumentException if a name has our prefix and is unknown
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

  /** The builder was called with a value. */
  <T> void set(Setting<T> setting, T value) {
    called.put(setting.property(), value);
  }

  /**
   * Whether the builder, the URI or the properties have it; system properties are for every client
   * there is.
   */
  boolean isGiven(Setting<?> setting) {
    return called.containsKey(setting.property())
        || uri.containsKey(setting.property())
        || properties.getProperty(setting.property().key()) != null;
  }

  /**
   * The value of a setting.
   *
   * @throws IllegalArgumentException if it has a bad one, which the message names
   */
  // Only set puts a value there.
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

  /** Names in URIs are written in any case. */
  private static OneHopProperty find(String name, String where) {
    return Arrays.stream(OneHopProperty.values())
        .filter(property -> property.key().equalsIgnoreCase(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "unknown option %s in %s; known are %s"
                        .formatted(
                            name,
                            where,
                            Arrays.stream(OneHopProperty.values())
                                .map(OneHopProperty::key)
                                .collect(Collectors.joining(", ")))));
  }
}
