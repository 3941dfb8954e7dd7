package dev.onehop.jmh.check;

import org.jspecify.annotations.Nullable;

/**
 * A benchmark, its baseline and the {@link Bar} between them.
 *
 * @param name of the bar
 * @param benchmark what must be fast
 * @param baseline what it is compared with, in the same run
 * @param atLeast the least ratio of their speeds that is good enough, above 0
 * @param moreBytes the most bytes that it may allocate per operation above what its baseline does;
 *     null if that doesn't matter
 * @param rounds how often both are run before the ratio is judged
 */
record Comparison(
    String name,
    Side benchmark,
    Side baseline,
    double atLeast,
    @Nullable Integer moreBytes,
    int rounds) {}
