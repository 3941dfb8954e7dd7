package dev.onehop.copy.verify;

/**
 * The progress of a verification.
 *
 * @param phase the current phase, in words
 * @param documents keys that were compared in this run
 * @param expected an estimate of the keys to compare in this run
 * @param ranges finished ranges, in this and earlier runs
 * @param allRanges all ranges of the collections that were divided so far
 * @param waiting keys that differed and will be read again
 * @param differing keys that differ for certain
 */
public record VerifyProgress(
    String phase,
    long documents,
    long expected,
    int ranges,
    int allRanges,
    int waiting,
    long differing) {}
