package dev.onehop.jmh.check;

import org.jspecify.annotations.Nullable;

/**
 * A benchmark, its baseline and the {@link Bar} between them.
 *
 * @param name of the bar
 * @param benchmark the side that must be fast
 * @param baseline the side to compare with, in the same run
 * @param atLeast the least acceptable ratio of their speeds, above 0
 * @param moreBytes the most additional bytes per operation, compared with the baseline; null for no
 *     limit
 * @param rounds the number of runs of both sides
 */
record Comparison(
    String name,
    Side benchmark,
    Side baseline,
    double atLeast,
    @Nullable Integer moreBytes,
    int rounds) {}
