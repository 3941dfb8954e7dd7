package dev.onehop.ycsb;

import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * The share of this process among several clients, which load the cluster together from one machine
 * or many.
 *
 * @param index the number of this client, from 0 to {@code of - 1}
 * @param of the number of clients of the run
 * @param run the name of their common run; the same for all clients, and unique
 */
record ClientShare(int index, int of, String run) {

  static final String INDEX = "onehop.client";
  static final String OF = "onehop.clients";
  static final String RUN = "onehop.start";

  /**
   * Reads the properties.
   *
   * @return null if this is the only client
   * @throws InvalidPropertyException if a value is invalid or missing
   */
  static @Nullable ClientShare of(Properties properties) {
    PropertyReader reader = new PropertyReader(properties);
    Integer index = reader.natural(INDEX);
    Integer of = reader.positive(OF);
    String run = reader.text(RUN);
    if (index == null && of == null && run == null) {
      return null;
    }
    if (index == null || of == null || run == null) {
      throw new InvalidPropertyException(
          "%s, %s and %s must be given together".formatted(INDEX, OF, RUN));
    }
    if (index >= of) {
      throw new InvalidPropertyException(
          "%s must be from 0 to %d, not %d".formatted(INDEX, of - 1, index));
    }
    return new ClientShare(index, of, run);
  }
}
