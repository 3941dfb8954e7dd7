package dev.onehop.flink.table;

import java.io.Serializable;
import org.bson.BsonValue;

/** Converts BSON values into the internal values of one SQL type. Immutable and thread-safe. */
@FunctionalInterface
interface BsonConverter extends Serializable {

  /**
   * Converts a value that is not null.
   *
   * @throws WrongValueException if the type has no such value
   */
  Object convert(BsonValue value);
}
