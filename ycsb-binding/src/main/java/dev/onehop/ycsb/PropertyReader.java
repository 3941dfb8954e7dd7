package dev.onehop.ycsb;

import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads typed values from properties. For an invalid value, the exception has one line. */
final class PropertyReader {
  private static final Set<String> KNOWN =
      Set.of(
          BindingOptions.URL,
          BindingOptions.BATCH_SIZE,
          BindingOptions.UPSERT,
          BindingOptions.WRITE_CONCERN,
          BindingOptions.READ_PREFERENCE,
          BindingOptions.MAX_CONNECTIONS,
          BindingOptions.CONNECTIONS,
          BindingOptions.PIPELINING,
          BindingOptions.WARMUP,
          BindingOptions.SUMMARY,
          OpenLoopOptions.RATE,
          OpenLoopOptions.ARRIVALS,
          OpenLoopOptions.LATENCIES,
          OpenLoopOptions.BY_SHARD,
          OpenLoopOptions.BURST,
          OpenLoopOptions.INSTANCES,
          ClientShare.INDEX,
          ClientShare.OF,
          ClientShare.RUN,
          OpenLoopOptions.DRAIN,
          BindingOptions.LEAST_WARMUP,
          RunLength.DURATION,
          RunLength.ERROR,
          RunLength.WINDOWS,
          MeasuredWorkload.WORKLOAD,
          // YCSB's binding has this property, so it is accepted. Current drivers have no such
          // limit.
          "mongodb.threadsAllowedToBlockForConnectionMultiplier");

  // YCSB's names, see the README of its mongodb binding.
  private static final Map<String, WriteConcern> WRITE_CONCERNS =
      Map.of(
          "errors_ignored", WriteConcern.UNACKNOWLEDGED,
          "unacknowledged", WriteConcern.UNACKNOWLEDGED,
          "acknowledged", WriteConcern.W1,
          "journaled", WriteConcern.JOURNALED,
          "replica_acknowledged", WriteConcern.W2,
          "majority", WriteConcern.MAJORITY);

  private static final Map<String, ReadPreference> READ_PREFERENCES =
      Map.of(
          "primary", ReadPreference.primary(),
          "primary_preferred", ReadPreference.primaryPreferred(),
          "secondary", ReadPreference.secondary(),
          "secondary_preferred", ReadPreference.secondaryPreferred(),
          "nearest", ReadPreference.nearest());

  private final Properties properties;

  PropertyReader(Properties properties) {
    this.properties = properties;
  }

  /** Refuses unknown properties, because a misspelt property would have no effect. */
  void rejectUnknown() {
    for (String name : properties.stringPropertyNames()) {
      boolean ours = name.startsWith("onehop.") || name.startsWith("mongodb.");
      if (ours && !KNOWN.contains(name)) {
        throw new InvalidPropertyException(
            "unknown property %s; the properties are %s"
                .formatted(name, String.join(", ", new TreeSet<>(KNOWN))));
      }
    }
  }

  /** Returns the value without surrounding white space, or null if there is none. */
  @Nullable String text(String name) {
    String value = properties.getProperty(name);
    return value == null || value.isBlank() ? null : value.strip();
  }

  @Nullable Integer positive(String name) {
    Long number = number(name, 1);
    return number == null ? null : Math.toIntExact(number);
  }

  /** Returns a whole number of at least 0, or null if there is none. */
  @Nullable Integer natural(String name) {
    Long number = number(name, 0);
    return number == null ? null : Math.toIntExact(number);
  }

  /** Returns a number greater than 0, or null if there is none. */
  @Nullable Double positiveDecimal(String name) {
    String value = text(name);
    if (value == null) {
      return null;
    }
    try {
      double number = Double.parseDouble(value);
      if (number > 0 && Double.isFinite(number)) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Reported below, like a number that is too small.
    }
    throw new InvalidPropertyException(
        "%s must be a number greater than 0, not \"%s\"".formatted(name, value));
  }

  Duration millis(String name) {
    Long number = number(name, 0);
    return number == null ? Duration.ZERO : Duration.ofMillis(number);
  }

  boolean flag(String name) {
    String value = text(name);
    if (value == null || value.equalsIgnoreCase("false")) {
      return false;
    }
    if (value.equalsIgnoreCase("true")) {
      return true;
    }
    throw new InvalidPropertyException(
        "%s must be true or false, not \"%s\"".formatted(name, value));
  }

  @Nullable WriteConcern writeConcern(String name) {
    return oneOf(name, WRITE_CONCERNS);
  }

  @Nullable ReadPreference readPreference(String name) {
    return oneOf(name, READ_PREFERENCES);
  }

  <T> @Nullable T oneOf(String name, Map<String, T> meanings) {
    String value = text(name);
    if (value == null) {
      return null;
    }
    T meaning = meanings.get(value.toLowerCase(Locale.ROOT));
    if (meaning == null) {
      throw new InvalidPropertyException(
          "%s must be one of %s, not \"%s\""
              .formatted(name, String.join(", ", new TreeSet<>(meanings.keySet())), value));
    }
    return meaning;
  }

  private @Nullable Long number(String name, int least) {
    String value = text(name);
    if (value == null) {
      return null;
    }
    try {
      int number = Integer.parseInt(value);
      if (number >= least) {
        return (long) number;
      }
    } catch (NumberFormatException e) {
      // Reported below, like a number that is too small.
    }
    throw new InvalidPropertyException(
        "%s must be a whole number from %d to %d, not \"%s\""
            .formatted(name, least, Integer.MAX_VALUE, value));
  }
}
