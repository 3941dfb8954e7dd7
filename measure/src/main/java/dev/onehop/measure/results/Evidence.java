package dev.onehop.measure.results;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What servers say about the operations of a point. Immutable.
 *
 * @param share the fraction of operations that each shard served, by the servers' own counters;
 *     empty if that can't be told
 * @param besideOwner the fraction of operations that reached their shard from a router on the
 *     shard's own host; null where nothing was seen
 * @param besideOwnerSample how many operations that fraction was taken from; null likewise
 */
public record Evidence(
    Map<String, Double> share, @Nullable Double besideOwner, @Nullable Long besideOwnerSample) {

  /** A map that an older or hand-made file left out is empty. */
  public Evidence {
    share = share == null ? Map.of() : share;
  }

  /** The evidence of a client that no router serves. */
  public Evidence withoutRouter() {
    return new Evidence(share, null, besideOwnerSample);
  }
}
