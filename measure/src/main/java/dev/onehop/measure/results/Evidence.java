package dev.onehop.measure.results;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The servers' own figures about the operations of a point. Immutable.
 *
 * @param share the fraction of operations that each shard executed, by the servers' own counters;
 *     empty if unknown
 * @param besideOwner the fraction of operations that reached their shard from a router on the
 *     shard's own host; null if unknown
 * @param besideOwnerSample the number of operations from which {@code besideOwner} was computed;
 *     null if unknown
 */
public record Evidence(
    Map<String, Double> share, @Nullable Double besideOwner, @Nullable Long besideOwnerSample) {

  /** Returns these figures without {@code besideOwner}, for a client that uses no router. */
  public Evidence withoutRouter() {
    return new Evidence(share, null, besideOwnerSample);
  }
}
