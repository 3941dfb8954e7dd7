package dev.onehop.copy.verify;

import java.util.List;

/**
 * What a verification has found.
 *
 * @param compared how many keys, on either side, were compared
 * @param missing keys of which the destination has no document, or fewer than the source
 * @param extra keys of which the source has no document, or fewer than the destination
 * @param different keys of which both have as many documents, but with other bytes
 * @param unsettled keys that kept changing until the time to decide was over
 * @param metadata what differs besides documents
 * @param details the first of the differing keys, as many as were asked for
 * @param resumed how many ranges were done by earlier runs
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
