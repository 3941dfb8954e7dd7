package dev.onehop.jmh.check;

import org.jspecify.annotations.Nullable;

/**
 * A benchmark, its baseline and the {@link Bar} between them.
 *
 * @param name the name of the bar
 * @param benchmark the side that must be fast
 * @param baseline the side to compare with, measured in the same rounds
 * @param atLeast the least ratio of the benchmark's speed to the baseline's speed, above 0
 * @param moreBytes the largest number of additional bytes per operation, compared with the
 *     baseline; null for no limit
 * @param rounds the number of runs of each side
 */
record Comparison(
    String name,
    Side benchmark,
    Side baseline,
    double atLeast,
    @Nullable Integer moreBytes,
    int rounds) {}
