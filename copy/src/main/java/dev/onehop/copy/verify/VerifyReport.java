package dev.onehop.copy.verify;

import java.util.List;

/**
 * The result of a verification.
 *
 * @param compared number of keys, on either side, that were compared
 * @param missing keys of which the destination has no document, or fewer than the source
 * @param extra keys of which the source has no document, or fewer than the destination
 * @param different keys of which both sides have the same number of documents, but with other bytes
 * @param unsettled keys that kept changing until the time limit
 * @param metadata differences of collections, options, indexes and shard keys
 * @param details the first differing keys, at most as many as the settings allow
 * @param resumed number of ranges that earlier runs have finished
 */
public record VerifyReport(
    long compared,
    long missing,
    long extra,
    long different,
    long unsettled,
    List<MetadataDifference> metadata,
    List<Difference> details,
    int resumed) {

  /** Takes copies. */
  public VerifyReport {
    metadata = List.copyOf(metadata);
    details = List.copyOf(details);
  }

  /** Whether something differs for certain. */
  public boolean isDifferent() {
    return missing + extra + different > 0 || !metadata.isEmpty();
  }

  /** Whether everything was compared and nothing differs. */
  public boolean isEqual() {
    return !isDifferent() && unsettled == 0;
  }
}
