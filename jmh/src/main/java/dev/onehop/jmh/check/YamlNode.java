package dev.onehop.jmh.check;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * A mapping in a YAML file, whose errors name the place.
 *
 * @param place the file and the way to this mapping
 * @param values what it holds
 */
record YamlNode(String place, Map<?, ?> values) {

  static YamlNode parse(String source, String yaml) {
    try {
      Load load = new Load(LoadSettings.builder().setLabel(source).build());
      return of(source, load.loadFromString(yaml));
    } catch (YamlEngineException e) {
      throw new BarsException(source + " is not YAML: " + e.getMessage(), e);
    }
  }

  private static YamlNode of(String place, @Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      return new YamlNode(place, map);
    }
    throw new BarsException(place + " is not a mapping", null);
  }

  /** Refuses other names than these. */
  void allow(String... names) {
    for (Object key : values.keySet()) {
      if (!Set.of(names).contains(key)) {
        throw new BarsException(
            "%s: unknown \"%s\"; there are %s".formatted(place, key, String.join(", ", names)),
            null);
      }
    }
  }

  boolean has(String name) {
    return values.get(name) != null;
  }

  YamlNode child(String name) {
    return of(place + ": " + name, values.get(name));
  }

  @Nullable YamlNode childOrNull(String name) {
    return has(name) ? child(name) : null;
  }

  List<YamlNode> children(String name) {
    if (!(values.get(name) instanceof List<?> list)) {
      throw new BarsException(place + ": " + name + " is not a list", null);
    }
    List<YamlNode> children = new ArrayList<>();
    for (Object value : list) {
      children.add(of("%s: %s, number %d".formatted(place, name, children.size() + 1), value));
    }
    return children;
  }

  String text(String name) {
    if (values.get(name) instanceof String text && !text.isBlank()) {
      return text;
    }
    throw new BarsException(place + ": " + name + " is missing or no text", null);
  }

  int wholeNumber(String name, int atLeast) {
    if (values.get(name) instanceof Integer number && number >= atLeast) {
      return number;
    }
    throw new BarsException(
        "%s: %s must be a whole number, %d or more".formatted(place, name, atLeast), null);
  }

  double positive(String name) {
    if (values.get(name) instanceof Number number && number.doubleValue() > 0) {
      return number.doubleValue();
    }
    throw new BarsException(place + ": " + name + " must be a number above 0", null);
  }

  /** All values as text. */
  Map<String, String> texts() {
    Map<String, String> texts = new LinkedHashMap<>();
    values.forEach((key, value) -> texts.put(String.valueOf(key), String.valueOf(value)));
    return texts;
  }
}
