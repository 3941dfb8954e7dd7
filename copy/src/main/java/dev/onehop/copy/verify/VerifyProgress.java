package dev.onehop.copy.verify;

/**
 * The progress of a verification.
 *
 * @param phase the current phase, in words
 * @param documents the number of keys that were compared in this run
 * @param expected an estimate of the number of keys to compare in this run
 * @param ranges the number of finished ranges, in this run and earlier runs
 * @param allRanges the number of ranges of all collections that were divided so far
 * @param waiting the number of keys whose documents differed and will be read again
 * @param differing the number of keys whose documents differ for certain
 */
public record VerifyProgress(
    String phase,
    long documents,
    long expected,
    int ranges,
    int allRanges,
    int waiting,
    long differing) {}
