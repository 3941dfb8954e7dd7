package dev.onehop.ycsb;

import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Which one of several clients this process is. They load the cluster together, on one machine or
 * on many.
 *
 * @param index from 0 to {@code of - 1}
 * @param of how many clients there are
 * @param run names what they start together; the same for all of them, and for nothing else
 */
record ClientShare(int index, int of, String run) {

  static final String INDEX = "onehop.client";
  static final String OF = "onehop.clients";
  static final String RUN = "onehop.start";

  /**
   * Reads the properties.
   *
   * @return null if the run has this client only
   * @throws InvalidPropertyException if a value can't be taken, or one of them is missing
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
      throw new InvalidPropertyException("%s, %s and %s go together".formatted(INDEX, OF, RUN));
    }
    if (index >= of) {
      throw new InvalidPropertyException(
          "%s must be from 0 to %d, not %d".formatted(INDEX, of - 1, index));
    }
    return new ClientShare(index, of, run);
  }
}
