package dev.onehop.copy.verify;

/**
 * How far a verification is.
 *
 * @param phase what is being done, in words
 * @param documents keys that were compared in this run
 * @param expected an estimate of how many there are to compare in this run
 * @param ranges ranges that are done, also by earlier runs
 * @param allRanges how many there are
 * @param waiting keys that differed and will be looked at again
 * @param differing keys that were found to differ
 */
public record VerifyProgress(
    String phase,
    long documents,
    long expected,
    int ranges,
    int allRanges,
    int waiting,
    long differing) {}
