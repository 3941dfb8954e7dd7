package dev.onehop.copy.verify;

import java.util.List;

/**
 * The result of a verification.
 *
 * @param compared the number of compared keys; a key counts once, even if only one cluster has it
 * @param missing the number of keys for which the destination has no document, or fewer documents
 *     than the source
 * @param extra the number of keys for which the source has no document, or fewer documents than the
 *     destination
 * @param different the number of keys for which both clusters have the same number of documents,
 *     but with other bytes
 * @param unsettled the number of keys that kept changing until the time limit, and were not
 *     compared
 * @param metadata the differences of collections, options, indexes and shard keys
 * @param details some of the differing keys, at most as many as the settings allow
 * @param resumed the number of ranges that earlier runs have finished
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

  /** Copies the lists. */
  public VerifyReport {
    metadata = List.copyOf(metadata);
    details = List.copyOf(details);
  }

  /** Whether documents or metadata differ for certain. */
  public boolean isDifferent() {
    return missing + extra + different > 0 || !metadata.isEmpty();
  }

  /** Whether all keys were compared and nothing differs. */
  public boolean isEqual() {
    return !isDifferent() && unsettled == 0;
  }
}
